// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes a subnet with its tables into one file. It reads the same subnet back: indexes, descriptions,
// LIDs, forwarding tables, VLs, SLs and multicast.
//
// A file consists of the eight bytes "IBCSNAP\x01" and zstd frames with checksums. The frames contain sections. A
// section has a name, a length, and data of this length. All numbers are unsigned varints, and strings begin with their
// length:
//
//	fabric    the SM's port + 1, then the nodes in order, each with its ports; then, if there are any, the
//	          number of unreachable end ports and these ports, + 1
//	gid prefix
//	          the GID prefix of the subnet, if it is known
//	labels    if there are any, the number of ports with a label, then each of these ports and its label
//	lft       origin, highest LID, then for each switch: known, LinearFDBTop, the
//	          row from LID 0 to the highest
//	sl2vl     for each node, ingress and egress port: 16 VLs
//	sls       for each source the row of SLs by LID, equal rows once
//	slranges  the same for the ranges of SLs, if any path has more than one: the number of SLs less 1, times 16, plus
//	          the first SL
//	adaptive  the different groups of ports, then for each switch its adaptive
//	          routing: whether it is enabled, SLs, groups, tables, private tables
//	mft       the highest multicast LID, then for each switch and LID the port set
//	routing   engine, options, roots, and the min-hop tables: for each pair of
//	          switches the hops, then the ports as words of 8 bytes, lowest first
//	chain     the engines that were tried, in order
//
// A reader skips sections that it does not know.
package snapshot

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric"
)

// Magic is the beginning of a snapshot. Family is the part of the beginning that all versions have in common.
const (
	Magic  = Family + "\x01"
	Family = "IBCSNAP"
)

// The limits of an uncompressed file. 3,000 switches with 48,000 LIDs have 144 MB of forwarding tables, up to 144 MB of
// SLs, and 81 MB of min-hop tables. With 64 ports each, they have 200 MB of SL2VL tables.
const (
	MaxSize   = 896 << 20
	maxWindow = 64 << 20 // of zstd
	maxName   = 64       // of a section
)

// Snapshot is a subnet with its tables.
type Snapshot struct {
	Fabric *fabric.Fabric
	// Tables may be nil. Otherwise their fabric is Fabric.
	Tables *fabric.Tables
	// Routing is nil if it is not known how the tables were computed.
	Routing *Routing
}

// Write writes a snapshot.
func Write(w io.Writer, snap Snapshot) error {
	if _, err := io.WriteString(w, Magic); err != nil {
		return err
	}
	return writeFrames(w, frames(sections(&snap)))
}

// EncodeRest encodes all parts of tables except the forwarding tables: VLs, SLs, adaptive-routing groups, multicast,
// and which parts are unread. It returns no bytes if the tables have none of these parts and were computed.
func EncodeRest(t *fabric.Tables) []byte {
	return bytes.Join(slices.Concat(frames(rest(t))...), nil)
}

// DecodeRest is the inverse of [EncodeRest]. It stores the decoded parts in t.
func DecodeRest(b []byte, t *fabric.Tables) error {
	if err := (&Snapshot{Fabric: t.Fabric, Tables: t}).read(bytes.NewReader(b)); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

// section is a named section. Its data consists of pieces.
type section struct {
	name string
	data [][]byte
}

func whole(name string, data []byte) section { return section{name, [][]byte{data}} }

// head returns the bytes before the data.
func (s *section) head() []byte {
	size := 0
	for _, piece := range s.data {
		size += len(piece)
	}
	e := encoder{}
	e.string(s.name)
	e.uint(uint64(size))
	return e.b
}

func sections(snap *Snapshot) []section {
	all := []section{whole("fabric", EncodeFabric(snap.Fabric))}
	if labels := encodeLabels(snap.Fabric); labels != nil {
		all = append(all, whole("labels", labels))
	}
	if prefix := snap.Fabric.GIDPrefix; prefix != 0 {
		e := &encoder{}
		e.uint(prefix)
		all = append(all, whole("gid prefix", e.b))
	}
	if snap.Tables != nil {
		all = append(append(all, section{"lft", encodeLFT(snap.Tables)}), rest(snap.Tables)...)
	}
	if snap.Routing != nil {
		all = append(all, whole("routing", encodeRouting(snap.Routing)))
		if len(snap.Routing.Chain) > 0 {
			all = append(all, whole("chain", encodeChain(snap.Routing.Chain)))
		}
	}
	return all
}

// rest returns the sections that follow the forwarding tables.
func rest(t *fabric.Tables) []section {
	var all []section
	f := t.Fabric
	if t.Unread.Any() || t.Origin == fabric.LiveOrigin {
		all = append(all, whole("unread", encodeUnread(t.Unread)))
	}
	if t.SL2VL != nil {
		all = append(all, whole("sl2vl", encodeSL2VL(f, t.SL2VL)))
	}
	if t.SLs != nil {
		all = append(all, whole("sls", encodeSLs(f, t.SLs)))
		if r := (packedRanges{t.SLs}); r.any(f) {
			all = append(all, whole("slranges", encodeSLs(f, r)))
		}
	}
	if t.Adaptive != nil {
		all = append(all, whole("adaptive", encodeAdaptive(t.Adaptive)))
	}
	if t.MFT != nil {
		all = append(all, whole("mft", encodeMFT(f, t.MFT)))
		if t.MFT.Unread != nil {
			all = append(all, whole("mftunread", encodeMFTUnread(t.MFT)))
		}
	}
	return all
}

// Read reads a snapshot of [Write].
func Read(r io.Reader) (snap Snapshot, err error) {
	magic := make([]byte, len(Magic))
	_, err = io.ReadFull(r, magic)
	if version, ok := strings.CutPrefix(string(magic), Family); err == nil && ok && string(magic) != Magic {
		return snap, fmt.Errorf("the snapshot has version %d, but this program supports version %d", version[0],
			Magic[len(Family)])
	}
	if err != nil || string(magic) != Magic {
		return snap, fmt.Errorf("not a snapshot: it begins with %q, expected %q", magic, Magic)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return snap, err
	}
	defer z.Close()
	if err := snap.read(z); err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	if snap.Fabric == nil {
		return snap, errors.New("snapshot: no fabric")
	}
	return snap, nil
}

// read reads sections and stores the known ones in snap. It never reads more of a section than the stated size. It does
// not read a section that is too large.
func (snap *Snapshot) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, window)
	statesUnread := false // older versions did not state which parts of live tables are unread
	for total := uint64(0); ; {
		name, size, err := heading(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch total += size; {
		case name == "fabric" && size > MaxFabric:
			return tooLarge(name, size, MaxFabric)
		case size > MaxSize || total > MaxSize:
			return tooLarge(name, total, MaxSize)
		}
		d := &decoder{r: in, left: int64(size)}
		if err := snap.section(name, d); err != nil {
			return fmt.Errorf("%w (at byte %d of %d of the section)", err, d.at(size), size)
		}
		if _, err := io.CopyN(io.Discard, in, d.left); err != nil {
			return fmt.Errorf("%s: %w", name, asTruncated(err))
		}
		statesUnread = statesUnread || name == "unread"
	}
	if t := snap.Tables; t != nil && !statesUnread && t.Origin == fabric.LiveOrigin {
		t.Unread = fabric.Unread{SLs: t.SLs == nil, SL2VL: t.SL2VL == nil}
	}
	return nil
}

func tooLarge(name string, size, most uint64) error {
	return fmt.Errorf("%s: its uncompressed size is %d MB, expected at most %d", fabric.Escape(name), size>>20,
		most>>20)
}

// heading returns the name and size of the next section. It returns [io.EOF] after the last section.
func heading(r *bufio.Reader) (name string, size uint64, err error) {
	n, err := binary.ReadUvarint(r)
	if err == io.EOF {
		return "", 0, err
	}
	if err != nil {
		return "", 0, fmt.Errorf("read the heading of a section: %w", err)
	}
	if n == 0 || n > maxName {
		return "", 0, errors.New("a section without a name")
	}
	b := make([]byte, n)
	if _, err = io.ReadFull(r, b); err == nil {
		size, err = binary.ReadUvarint(r)
	}
	if err != nil {
		return "", 0, asTruncated(err)
	}
	return string(b), size, nil
}

func (snap *Snapshot) section(name string, d *decoder) (err error) {
	f, t := snap.Fabric, snap.Tables
	switch {
	case name == "fabric" && f == nil:
		snap.Fabric, err = decodeFabric(d)
	case name == "labels" && f != nil && t == nil:
		snap.Fabric, err = decodeLabels(f, d)
	case name == "gid prefix" && f != nil && t == nil:
		f.GIDPrefix = d.uint(math.MaxUint64)
	case name == "lft" && f != nil && t == nil:
		snap.Tables, err = decodeLFT(f, d)
	case t != nil && name != "routing" && name != "chain":
		err = tablesSection(name, t, d)
	case name == "routing" && f != nil:
		snap.Routing, err = decodeRouting(f, d)
	case name == "chain" && snap.Routing != nil:
		snap.Routing.Chain, err = decodeChain(d)
	}
	return err
}

// tablesSection decodes a section that belongs to forwarding tables.
func tablesSection(name string, t *fabric.Tables, d *decoder) (err error) {
	f := t.Fabric
	switch {
	case name == "unread":
		t.Unread, err = decodeUnread(d)
	case name == "sl2vl":
		t.SL2VL, err = decodeSL2VL(f, d)
	case name == "sls":
		t.SLs, err = decodeSLs(d)
	case name == "slranges":
		t.SLs, err = decodeRanges(t.SLs, d)
	case name == "adaptive":
		t.Adaptive, err = decodeAdaptive(f, d)
	case name == "mft":
		t.MFT, err = decodeMFT(f, d)
	case name == "mftunread" && t.MFT != nil:
		err = decodeMFTUnread(f, t.MFT, d)
	}
	return err
}
