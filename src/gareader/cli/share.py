"""Commands that give models to others: push, export."""

from dataclasses import asdict
from pathlib import Path

from gareader.cli.app import Json, model_folder, tell
from gareader.cli.models import card_text
from gareader.core.errors import GareaderError
from gareader.core.files import read_small
from gareader.core.whole import check_folder, whole_file
from gareader.trained.card import Facts, without_local_links
from gareader.trained.folder import read_settings
from gareader.trained.models import BOX


def push(
    model: str,
    address: str,
    *,
    card: Path | None = None,
    license: str | None = None,
    dataset: tuple[str, ...] = (),
    force: bool = False,
    as_json: Json = False,
) -> None:
    """Write a model with its card and its checksum to an address, from which others load it.

    Example: `gareader push runs/tiny/best tiny.tar.xz`

    Parameters
    ----------
    model
        A model in the box, or the folder of a trained one; an ensemble goes with its members.
    address
        A path, file:///…, or an address of fsspec: hf://…, s3://…. If it ends with .tar.xz or .tar.gz an archive is
        written, otherwise a folder.
    card
        A Markdown file of your own about the model; a header for hubs is put before it unless it has one.
    license
        The licence's identifier, such as mit or cc-by-4.0; that of gareader for models in the box.
    dataset
        The name of a training corpus on the hub; may be given several times.
    force
        Replace what is there.
    """
    from gareader.trained.remote import Address
    from gareader.trained.sharing import check_free
    from gareader.trained.sharing import push as write

    folder, target = model_folder(model).resolve(), Address.of(address)
    check_free(target, force=force)
    text = card_text(folder) if card is None else own_card(card)
    if boxed := folder.parent == BOX:
        text = text and without_local_links(text)
    facts = Facts(title(folder), license or ("mit" if boxed else None), dataset)
    pushed = write(folder, target, facts, text, force=force)
    text = f"{target}: {pushed.bytes / 1e6:.1f} MB\nLoad it with its checksum: gareader.load({pushed.pinned!r})"
    tell({**asdict(pushed), "load": pushed.pinned}, text, as_json)


def own_card(path: Path) -> str:
    """The text of a card; raise GareaderError if it cannot be read."""
    try:
        return read_small(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise GareaderError(f"{path}: the card cannot be read ({reason}); give a Markdown file") from None


def title(folder: Path) -> str:
    """The name of a model: that of its folder, or of its training run."""
    return folder.parent.name if folder.name in ("best", "last") else folder.name


def export(model: str, *, out: Path, as_json: Json = False) -> None:
    """Write a Gated-Attention Reader as an ONNX file, for programs in other languages.

    docs/sharing.md has the meaning of its inputs, and a program that reads it.

    Example: `gareader export stories --out stories.onnx`

    Parameters
    ----------
    model
        A model in the box, the folder of a trained one, or an address; no ensemble.
    out
        The file to write, for example model.onnx.
    """
    folder = model_folder(model)
    if "ensemble" in (settings := read_settings(folder)):
        raise GareaderError(f"{model}: an ensemble is several models; export each: {', '.join(settings['ensemble'])}")
    check_folder(out)
    from gareader.trained.export_onnx import onnx_file

    content = onnx_file(folder)
    with whole_file(out) as new:
        new.write_bytes(content)
    tell({"file": str(out), "bytes": len(content)}, f"{out}: {len(content) / 1e6:.1f} MB", as_json)
