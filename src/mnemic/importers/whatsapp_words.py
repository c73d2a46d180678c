"""What stands behind the time of a WhatsApp line: a speaker's words, a file, or a line of WhatsApp's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnemic.types import Json

OWN = "a line of WhatsApp's own (the encryption notice, who joined or left)"
MEDIA = "media that the export leaves out"
DELETED = "a message that was deleted"

_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPEAKER = re.compile(r"(?P<name>[^:\n]{1,100}?):(?: (?P<words>.*)|$)", re.DOTALL)
_OMITTED = re.compile(
    r"<?(?:(?:media|image|video|audio|sticker|gif|document|contact card|video note) omitted"
    r"|medien ausgeschlossen|(?:bild|video|audio|sticker|gif|dokument) weggelassen"
    r"|médias omis|(?:image|vidéo|audio|sticker|gif|document) absente?"
    r"|(?:multimedia|imagen|video|audio|sticker|gif|documento) omitid[oa]"
    r"|media omessi|(?:immagine|video|audio|sticker|gif|documento) omess[oa]"
    r"|mídia oculta|(?:imagem|vídeo|áudio|figurinha|gif|documento) ocult[oa]"
    r"|media weggelaten|afbeelding weggelaten)>?",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht"
    r"|du hast diese nachricht gelöscht|ce message a été supprimé|vous avez supprimé ce message"
    r"|se eliminó este mensaje|eliminaste este mensaje|questo messaggio è stato eliminato"
    r"|hai eliminato questo messaggio|mensagem apagada|você apagou esta mensagem|dit bericht is verwijderd)\.?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\s?<(?:this message was edited|diese nachricht wurde bearbeitet|ce message a été modifié|se editó este mensaje"
    r"|questo messaggio è stato modificato|esta mensagem foi editada|dit bericht is bewerkt)\.?>$",
    re.IGNORECASE,
)
_ATTACHED = re.compile(
    r"(?:<(?:attached|angehängt|adjunto|pièce jointe|allegato|anexado|bijgevoegd)\s?: (?P<ios>[^>\n]+)>"
    r"|(?P<android>[^\n]*\.\w{2,5}) \((?:file attached|datei angehängt|archivo adjunto|fichier joint|file allegato"
    r"|arquivo anexado|bestand bijgevoegd)\))(?:\n(?P<caption>.*))?",
    re.IGNORECASE | re.DOTALL,
)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|heic)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody said: a text, or parts where there is a file."""

    speaker: str
    words: str | list[Json]
    was_edited: bool = False


def content(text: str, *, is_ios: bool) -> Words | str:
    """What is said behind a line's time, its further lines included; or why nothing is.

    Args:
        text: As it stands in the file, with its invisible marks.
        is_ios: Whether the line is in the form of iOS, which marks all that people did not write.
    """
    found = _SPEAKER.match(text)
    if found is None:
        return OWN
    speaker = _MARKS.sub("", found["name"]).strip().removeprefix("~").strip()
    said = found["words"] or ""
    plain = _MARKS.sub("", said).strip()
    if not speaker:
        return OWN
    if not plain:
        return "a message without words"
    if _OMITTED.fullmatch(plain):
        return MEDIA
    if _DELETED.fullmatch(plain):
        return DELETED
    if (attached := _ATTACHED.fullmatch(plain)) is not None:
        return Words(speaker, _file(attached["ios"] or attached["android"], attached["caption"]))
    if is_ios and said.startswith("\u200e"):
        return OWN
    shorter = _EDITED.sub("", said.replace("\u200e<", "<"))
    return (
        Words(speaker, shorter, shorter != said)
        if _EDITED.search(said.replace("\u200e<", "<"))
        else Words(speaker, said)
    )


def _file(name: str, caption: str | None) -> list[Json]:
    name = name.strip()
    kind: dict[str, Json] = (
        {"type": "image_url", "image_url": {"url": name}}
        if _PICTURE.search(name)
        else {"type": "file", "file": {"filename": name, "file_id": name}}
    )
    return [kind, *([{"type": "text", "text": caption}] if caption and caption.strip() else [])]
