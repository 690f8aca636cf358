#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Records what a stock iperf3 client and server say to each other: record.py IPERF3 VERSION OUTDIR."""
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time

TCP, UDP = ["-t", "1"], ["-u", "-t", "1", "-b", "2M", "-l", "1000"]
TESTS = {
    "tcp": TCP + ["-P", "2"],
    "tcp-reverse": TCP + ["-R"],
    "tcp-bytes": ["-n", "4M"],
    "tcp-omit": TCP + ["-O", "1"],
    "tcp-bidir": TCP + ["--bidir"],
    "udp": UDP,
    "udp-64bit": UDP + ["--udp-counters-64bit", "-P", "2"],
    "udp-reverse": UDP + ["-R"],
    "udp-bidir": UDP + ["--bidir"],
    "tcp-output": TCP + ["--get-server-output"],
    "busy": TCP,
    "client-interrupted": ["-t", "20"],
    "server-interrupted": ["-t", "20"],
}


class Recorder:
    """Relays one port to another and writes down the control connection and the first datagrams."""

    def __init__(self, port, target):
        self.target, self.lines, self.sockets = target, [], []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", port))
        for relay in (self.accept, self.relay_udp):
            threading.Thread(target=relay, daemon=True).start()

    def accept(self):
        control = True
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for name, a, b in (("C", client, server), ("S", server, client)):
                arguments = (name if control else None, a, b)
                threading.Thread(target=self.relay, args=arguments, daemon=True).start()
            control = False

    def relay(self, name, source, sink):
        try:
            while data := source.recv(65536):
                if name:
                    self.lines.append(f"{name} {data.hex()}")
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if name:
            self.lines.append(f"{name} end")

    def relay_udp(self):
        poll = selectors.DefaultSelector()
        poll.register(self.udp, selectors.EVENT_READ, None)
        streams, counts = {}, {}
        while True:
            for key, _ in poll.select():
                try:
                    data, address = key.fileobj.recvfrom(65536)
                except OSError:
                    return
                address, side = (address, "c") if key.data is None else (key.data, "s")
                if address not in streams:
                    streams[address] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    streams[address].connect(("127.0.0.1", self.target))
                    poll.register(streams[address], selectors.EVENT_READ, address)
                stream = list(streams).index(address)
                count = counts[stream, side] = counts.get((stream, side), 0) + 1
                if count <= 3:
                    self.lines.append(f"{side}{stream} {len(data)} {data[:16].hex()}")
                try:
                    if side == "c":
                        streams[address].send(data)
                    else:
                        self.udp.sendto(data, address)
                except OSError:
                    pass


def record(iperf3, arguments, interrupt, busy, port):
    server = subprocess.Popen([iperf3, "-s", "-p", str(port + 1)], stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    if busy:
        other = [iperf3, "-c", "127.0.0.1", "-p", str(port + 1), "-t", "2"]
        other = subprocess.Popen(other, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
    recorder = Recorder(port, port + 1)
    client = subprocess.Popen([iperf3, "-c", "127.0.0.1", "-p", str(port)] + arguments,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if interrupt:
        time.sleep(0.7)
        (client if interrupt == "client" else server).send_signal(signal.SIGINT)
    try:
        output = client.communicate(timeout=10)[0].decode()
    except subprocess.TimeoutExpired:
        client.kill()
        output = "killed"
    time.sleep(0.2)
    server.kill()
    server.wait()
    if busy:
        other.kill()
        other.wait()
    return recorder.lines, client.returncode, output


def main():
    iperf3, version, folder = sys.argv[1:4]
    port = 23000
    for name, arguments in TESTS.items():
        interrupt = name.removesuffix("-interrupted") if "interrupted" in name else None
        lines, code, output = record(iperf3, arguments, interrupt, name == "busy", port)
        port += 2
        if code != 0 and not interrupt and name != "busy":
            print(f"{version} {name}: not recorded, the client failed: {output.strip()[-100:]}")
            continue
        with open(f"{folder}/{version}-{name}.txt", "w") as out:
            out.write(f"# iperf3 {version}, client and server: {' '.join(arguments)}\n")
            out.write("\n".join(lines) + "\n")


main()
