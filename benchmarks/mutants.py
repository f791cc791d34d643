"""Small wrong changes of a module, one at a time: what ``mutation.py`` runs the tests against."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
NAMES = {
    "min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil",
    "zeros": "ones", "zeros_like": "ones_like", "logical_and": "logical_or", "sum": "max",
}  # fmt: skip
NAMES |= {new: old for old, new in NAMES.items() if old != "sum"}
ONE_ARGUMENT = ("abs", "sqrt", "conj", "sort")  # f(x) -> x
NOT_CODE = ("annotation", "returns", "decorator_list", "type_comment")
Place = tuple[ast.AST, str, int | None]


class Mutant(NamedTuple):
    """A change, and the module with it."""

    module: str  # file name without .py
    line: int
    last_line: int
    text: str  # the first line of the statement, as it is in the file
    before: str
    after: str
    scope: tuple[int, int] | None  # lines of the function or class around it
    name: str | None  # what a statement outside of functions assigns
    source: str

    @property
    def change(self) -> str:
        """Return the change in words."""
        return f"{self.before} → {self.after}"


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(op)]())
        case ast.Compare(ops=[op, *others]):
            yield _with(node, ops=[COMPARISONS[type(op)](), *others])
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args):
            if name in NAMES:
                field = "attr" if isinstance(node.func, ast.Attribute) else "id"
                yield _with(node, func=_with(node.func, **{field: NAMES[name]}))
            if name in ONE_ARGUMENT and len(args) == 1:
                yield args[0]
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if not _turned(test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def _turned(test: ast.AST) -> bool:
    """Say whether another replacement is the negation of a condition already."""
    match test:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot() | ast.In()]):
            return True
        case ast.Compare(ops=[ast.NotIn()]) | ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _with(node: ast.AST, **changed: object) -> ast.AST:
    """Return a copy of a node with other fields."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.copy_location(type(node)(**(fields | changed)), node)


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, Place, list[ast.AST]]]:
    """Yield every node of code with its place and the nodes around it."""

    def visit(node: ast.AST, around: list[ast.AST]) -> Iterator:
        for field, value in ast.iter_fields(node):
            if field in NOT_CODE:
                continue
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or _is_no_code(child):
                    continue
                yield child, (node, field, index if isinstance(value, list) else None), around
                if not isinstance(child, ast.Raise):  # the words of a message are not code
                    yield from visit(child, [*around, child])

    yield from visit(tree, [])


def _is_no_code(node: ast.AST) -> bool:
    """Say whether a node is there for readers and type checkers only."""
    match node:
        case ast.ClassDef(bases=bases):
            return any("Protocol" in ast.unparse(base) for base in bases)
        case ast.Call(func=ast.Name(id="TypeVar")):
            return True
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
    return False


def _early_return(node: ast.AST, around: list[ast.AST]) -> bool:
    """Say whether a function goes on after this return where its condition does not hold."""
    return isinstance(node, ast.Return) and isinstance(around[-1], ast.If | ast.For | ast.While)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    text = path.read_text()
    lines = text.splitlines()
    tree = ast.parse(text)
    for node, (parent, field, index), around in list(_places(tree)):
        offers = list(replacements(node))
        if _early_return(node, around):
            offers.append(ast.Pass())
        for new in offers:
            _put(parent, field, index, new)
            part = new if parent is tree else around[0]
            whole = ast.unparse(ast.fix_missing_locations(part))
            _put(parent, field, index, node)
            source = _spliced(lines, node if parent is tree else around[0], whole)
            head = around[-1] if field == "ops" else node  # operators have no place of their own
            statement = next(
                (n for n in (node, *reversed(around)) if isinstance(n, ast.stmt)), node
            )
            scopes = [n for n in around if isinstance(n, ast.FunctionDef | ast.ClassDef)]
            scope = (scopes[-1].lineno, scopes[-1].end_lineno or 0) if scopes else None
            yield Mutant(
                module=path.stem,
                line=head.lineno,
                last_line=head.lineno if isinstance(node, ast.If | ast.While) else head.end_lineno,
                text=lines[statement.lineno - 1].strip(),
                before=_words(node),
                after=_words(new),
                scope=scope,
                name=None if scopes else _assigned(statement),
                source=source,
            )


def _spliced(lines: list[str], part: ast.AST, text: str) -> str:
    """Return the module with another text for one of its statements."""
    decorators = getattr(part, "decorator_list", [])
    first = min(node.lineno for node in (part, *decorators))
    return "\n".join([*lines[: first - 1], text, *lines[part.end_lineno :], ""])


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    """Set a child of a node."""
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _words(node: ast.AST) -> str:
    """Return a node in one line: of a condition, its first line."""
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).splitlines()[0].split())


def _assigned(statement: ast.AST) -> str | None:
    """Return the name that a statement assigns, if it is one."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None
