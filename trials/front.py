"""nginx with TLS and HTTP/2 in front of a simulator."""

from __future__ import annotations

from pathlib import Path

from .failure import Failed
from .network import free_port, listens
from .processes import call, end_now, start


class Front:
    """nginx in front of the simulator at `upstream`, with the certificate in `authority`.

    It has two ports. At the second one, every answer contains the whole vehicle, whatever the request asks for.
    """

    def __init__(self, directory: Path, upstream: str, host: str = "127.0.0.1") -> None:
        self.authority, log = directory / "certificate.pem", directory / "nginx.log"
        self.ports = (free_port(host), free_port(host))
        call("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-keyout", directory / "key.pem", "-out", self.authority, "-subj", "/CN=trial",
             "-addext", f"subjectAltName=IP:{host}")
        paths = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        servers = "".join(f"""
                server {{
                    listen {host}:{port} ssl http2;
                    location / {{ proxy_pass {upstream}; proxy_http_version 1.1; {more} }}
                }}""" for port, more in zip(self.ports, ("", 'proxy_set_header X-Goog-FieldMask "";')))
        (directory / "nginx.conf").write_text(f"""
            daemon off; master_process off; pid nginx.pid; events {{}}
            http {{
                access_log off; {paths}
                ssl_certificate certificate.pem; ssl_certificate_key key.pem;
                {servers}
            }}""")
        self._process = start("nginx", "-p", directory, "-c", "nginx.conf", "-e", "stderr", log=log)
        if not all(listens(self._process, host, port) for port in self.ports):
            self.stop()
            raise Failed(f"nginx does not answer: {log.read_text()}")
        self.origin = f"https://{host}:{self.ports[0]}"

    def stop(self) -> None:
        end_now(self._process)
