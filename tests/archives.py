"""Web archives that tests write."""


def record(
    id: str,
    html: bytes = b"<p>words",
    *,
    length: int | None = None,
    kind: str = "text/html",
    url: str = "",
    charset: str = "; charset=utf-8",
    version: str = "1.0",
    newline: str = "\r\n",
    of_server: str | None = None,
) -> bytes:
    """A record of an archive with a page as a server sends it; ClueWeb09 has version 0.18, with LF."""
    end = newline if of_server is None else of_server
    http = f"HTTP/1.1 200 OK{end}Content-Type: {kind}{charset}{end * 2}".encode() + html
    head = {
        "WARC-Type": "response",
        "WARC-TREC-ID": id,
        "WARC-Record-ID": "<urn:uuid:12345678-0000-0000-0000-000000000000>",
        "WARC-Target-URI": url or f"http://a.example/{id}",
        "WARC-Date": "2012-02-10T21:51:20Z",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": len(http) if length is None else length,
    }
    lines = "".join(f"{name}: {value}{newline}" for name, value in head.items() if value != "")
    return f"WARC/{version}{newline}{lines}{newline}".encode() + http + newline.encode() * 2


def record_of_clueweb22(id: str, content: bytes, url: str = "") -> bytes:
    """A record of ClueWeb22: the page without the server's headers."""
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url or f'http://a.example/{id}'}\r\n"
        "WARC-Record-ID: <urn:uuid:12345678-0000-0000-0000-000000000000>\r\n"
        f"ClueWeb22-ID: {id}\r\nURL-Hash: 0123\r\nLanguage: en\r\nVDOM-Title: 1 2\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"
