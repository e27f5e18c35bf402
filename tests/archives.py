"""Web archives that tests write."""


def record(
    id: str,
    html: bytes = b"<p>words",
    *,
    length: int | None = None,
    kind: str = "text/html",
    url: str = "",
    charset: str = "; charset=utf-8",
) -> bytes:
    """A record of an archive, with a page as a server sends it."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}{charset}\r\n\r\n".encode() + html
    head = {
        "WARC-Type": "response",
        "WARC-TREC-ID": id,
        "WARC-Record-ID": "<urn:uuid:12345678-0000-0000-0000-000000000000>",
        "WARC-Target-URI": url or f"http://a.example/{id}",
        "WARC-Date": "2012-02-10T21:51:20Z",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": len(http) if length is None else length,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items() if value != "")
    return f"WARC/1.0\r\n{lines}\r\n".encode() + http + b"\r\n\r\n"
