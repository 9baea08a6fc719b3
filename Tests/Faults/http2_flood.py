"""An HTTP/2 server over TLS that answers every request with endless frames, none of which advances the answer.

Arguments: the kind of flood, a certificate and its key. Prints its port, each connection and each request, one per line.
The kinds "refused" and "http-1.1" aren't floods: they reset every stream. A client with HTTP/1.1 gets an answer.
"""

import os
import socket
import ssl
import struct
import sys
import threading

HEADERS, RST_STREAM, SETTINGS = 1, 3, 4
END_HEADERS = 4
REFUSALS = {"refused": 7, "http-1.1": 13}  # REFUSED_STREAM, HTTP_1_1_REQUIRED
PREFACE = 24
CHUNK = 1 << 16


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def flood(kind, stream):
    """Returns the bytes that are sent once, and the bytes that are repeated forever."""
    ok = frame(HEADERS, END_HEADERS, stream, b"\x88")  # :status 200
    return {
        "window-update": (b"", frame(8, 0, 0, struct.pack(">I", 1))),
        "goaway": (b"", frame(7, 0, 0, struct.pack(">II", 2**31 - 1, 0))),
        "priority": (b"", frame(2, 0, stream, bytes((0, 0, 0, 0, 16)))),
        "unknown": (b"", frame(0x55, 0, 0, bytes(16))),
        "empty-data": (ok, frame(0, 0, stream)),
        "padding": (ok, frame(0, 8, stream, bytes((99,)) + bytes(99))),
        "settings": (b"", frame(SETTINGS, 0, 0)),
        "ping": (b"", frame(6, 0, 0, bytes(8))),
    }[kind]


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


def requests(connection):
    """Yields the stream of each request when the request arrives."""
    exactly(connection, PREFACE)
    connection.sendall(frame(SETTINGS, 0, 0))
    while True:
        head = exactly(connection, 9)
        exactly(connection, int.from_bytes(head[:3], "big"))
        if head[3] == HEADERS:
            print("request", flush=True)
            yield int.from_bytes(head[5:], "big")


def serve(raw, context, kind):
    try:
        connection = context.wrap_socket(raw, server_side=True)
        if connection.selected_alpn_protocol() == "http/1.1":
            connection.recv(CHUNK)
            print("request", flush=True)
            return connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        for stream in requests(connection):
            if kind in REFUSALS:
                connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", REFUSALS[kind])))
                continue
            first, again = flood(kind, stream)
            connection.sendall(first)
            while True:
                connection.sendall(again * (CHUNK // len(again)))
    except OSError:
        print("ended", flush=True)


def main():
    kind, certificate, key = sys.argv[1:4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    listener.settimeout(1)
    parent = os.getppid()
    while os.getppid() == parent:  # the parent may end without stopping this process
        try:
            raw, _ = listener.accept()
        except TimeoutError:
            continue
        raw.setblocking(True)
        print("connection", flush=True)
        threading.Thread(target=serve, args=(raw, context, kind), daemon=True).start()


main()
