"""Genes of an AnnData object: `select_genes`."""

from featsieve.anndata.genes import select_genes

__all__ = ["select_genes"]
