# SPDX-License-Identifier: Apache-2.0

"""A reader of path databases, written from docs/pathdb.md alone.

reader.py FILE answers each pair of LIDs on standard input, "SLID DLID", with a
line: "SL MTU RATE LIFETIME PKEY HOPS" and the way as GUID/PORT, or "-".
"""

import struct
import sys

NONE = 0xFFFFFFFF
GBPS = dict(zip(range(2, 25), [2.5, 10, 30, 5, 20, 40, 60, 80, 120, 14, 56, 112, 168, 25, 100, 200, 300, 28, 50, 400, 600, 800, 1200]))

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def expect(holds, what):
    if not holds:
        sys.exit("not as the document says: " + what)


class Database:
    def __init__(self, data):
        self.data = data
        expect(data[:8] == b"IBPATHS\x02", "magic")
        (current,) = struct.unpack_from("<Q", data, 16)
        expect(not any(data[24:32]) and not any(data[96:128]), "zeros of the head")
        at = 32 + 32 * (current % 2)
        state, root, length, crc, zero = struct.unpack_from("<QQQII", data, at)
        expect(state == current and zero == 0 and crc == crc32c(data[:16] + data[at:at + 24]), "slot")
        self.segments(length)
        self.root(root, state)

    def segments(self, length):
        at = 128
        while at < length:
            expect(self.data[at:at + 8] == b"SEGMENT\x01", "segment")
            (size,) = struct.unpack_from("<Q", self.data, at + 8)
            expect(size % 8 == 0, "length of a payload")
            payload = self.data[at + 16:at + 16 + size]
            pages = [payload[i:i + 4096] for i in range(0, size, 4096)]
            sums = self.data[at + 16 + size:][:4 * len(pages)]
            for page, crc in zip(pages, struct.unpack("<%dI" % len(pages), sums)):
                expect(crc == crc32c(page), "page of a payload")
            end = at + 16 + size + len(sums)
            (crc,) = struct.unpack_from("<I", self.data, end)
            expect(crc == crc32c(self.data[at:at + 16]) ^ crc32c(sums), "sum of a segment")
            end += 4
            at = (end + 7) // 8 * 8
            expect(not any(self.data[end:at]), "zeros behind a segment")
        expect(at == length, "length of the file")

    def root(self, at, state):
        r = struct.unpack_from("<3Q14I11QI", self.data, at)
        expect(r[0] == state and r[28] == crc32c(self.data[at:at + 168]) and r[16] == 0, "root")
        _, _, self.prefix = r[:3]
        self.nports, self.nswitches, self.nlids, _, _, self.nclasses, _, _ = r[3:11]
        self.width, _, self.life, self.traces, self.slmask, _ = r[11:17]
        (self.ports, self.switches, self.lids, _, self.classes, self.sets, self.pkeys, self.wires, _, self.records, self.trace) = r[17:28]

    def word(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def field(self, at, width, i):
        value = 0
        for k in range(width):
            bit = i * width + k
            value |= (self.data[at + bit // 8] >> bit % 8 & 1) << k
        return value

    def value(self, directory, row, group, place):
        (row,) = struct.unpack_from("<Q", self.data, directory + 8 * row)
        ref = self.word(row + 4 * (group // 64))
        block = (ref & (1 << 26) - 1) * 4
        symbol = self.word(block) + self.field(block + 4, ref >> 26, group % 64)
        if symbol < 65536:
            return symbol
        vector = (symbol - 65536) * 4
        bits, _, least = struct.unpack_from("<BBH", self.data, vector)
        return least + self.field(vector + 4, bits, place)

    def port(self, i):
        keys = ("guid", "row", "switch", "peer", "set", "lid", "lmc", "rate", "mtu", "num", "flags")
        port = dict(zip(keys, struct.unpack_from("<QIIIIHBBBBB", self.data, self.ports + 32 * i)))
        port["index"] = i
        return port

    def lid(self, lid):
        return struct.unpack_from("<IHH", self.data, self.lids + 8 * lid) if lid < self.nlids else (NONE, 0xFFFF, 0)

    def path_class(self, src, dst, dlid):
        """hops, rate, MTU, first SL and spread; None without a path"""
        same = src["index"] == dst["index"]
        _, group, place = self.lid(dlid)
        if src["flags"] & 4:
            return None
        if src["peer"] == dst["index"] or src["switch"] == NONE and same:
            return 0, 0, 0, 0, 1
        if src["switch"] == NONE:
            return None
        if group == 0xFFFF:
            return (0, 0, 0, 0, 0) if same else None
        n = self.value(self.records, src["row"], group, place)
        if n >= self.nclasses:
            return None
        hops, rate, mtu, sl, spread, arrives = struct.unpack_from("<6B", self.data, self.classes + 8 * n)
        if same:
            return 0, 0, 0, sl, spread
        return (hops, rate, mtu, sl, spread) if arrives else None

    def set(self, port):
        if port["set"] == NONE:
            return [(0xFFFF, 0)]
        first, end = struct.unpack_from("<II", self.data, self.sets + 4 * port["set"])
        return [struct.unpack_from("<HB", self.data, self.pkeys + 4 * i) for i in range(first, end)]

    def partition(self, src, dst):
        for key, sl in self.set(src):
            for other, _ in self.set(dst):
                if key & 0x7FFF and key & 0x7FFF == other & 0x7FFF and (key | other) & 0x8000:
                    return key, sl
        return None

    def query(self, slid, dlid):
        source, destination = self.lid(slid)[0], self.lid(dlid)[0]
        if source == NONE or destination == NONE:
            return None
        src, dst = self.port(source), self.port(destination)
        c = self.path_class(src, dst, dlid)
        pkey = self.partition(src, dst)
        if c is None or pkey is None:
            return None
        hops, rate, mtu, sl, spread = c
        same = source == destination
        if not same:
            hops += 1 if src["switch"] == NONE else sum(not p["flags"] & 1 for p in (src, dst))
        rate = min((r for r in (rate, src["rate"], dst["rate"]) if r), key=GBPS.get, default=0)
        mtu = min((m for m in (mtu, src["mtu"], dst["mtu"]) if m), default=0)
        sl += ((slid << 16 | dlid) * 2654435769 % 2**32 >> 24) % max(1, spread)
        sl = sl & ~self.slmask | pkey[1] & self.slmask
        return sl, mtu, rate, 0 if same else self.life, pkey[0], hops

    def way(self, slid, dlid):
        src, dst = self.port(self.lid(slid)[0]), self.lid(dlid)[0]
        _, group, place = self.lid(dlid)
        if src["index"] == dst or src["switch"] == NONE:
            return []
        out, sw = [], src["switch"]
        while len(out) <= self.nswitches:
            egress = self.value(self.trace, sw, group, place)
            guid, port0, _ = struct.unpack_from("<QII", self.data, self.switches + 16 * sw)
            out.append("%016x/%d" % (guid, egress))
            if egress == 0 and port0 == dst:
                return out
            wire = self.word(self.wires + 4 * (sw * self.width + egress))
            if wire >= 1 << 31:
                expect(wire == 1 << 31 | dst, "a record whose way does not arrive")
                return out
            sw = wire
        sys.exit("a record whose way is a loop")


def main():
    with open(sys.argv[1], "rb") as f:
        db = Database(f.read())
    for line in sys.stdin:
        slid, dlid = map(int, line.split())
        record = db.query(slid, dlid)
        if record is None:
            print("-")
            continue
        print(*record, *(db.way(slid, dlid) if db.traces else []))


main()
