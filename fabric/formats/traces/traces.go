// SPDX-License-Identifier: Apache-2.0

// Package traces writes and reads files of traced paths. The text has a line for each path, in the order of source
// GUIDs, LIDs and paths:
//
//	ibconsole traces 1
//	subnet "sim:fattree:2,8"
//	...
//	0x0002c90300000101 12 0x0002c90300000205 delivered 0x...:1 5:0x...:20 1:0x...:2 20:0x...:3 1:0x...
//	name 0x0002c90300000100 "node-0001 HCA-1"
//	end 1 b2f5ff47436671b6e533d8dc3614845d
//
// The line of a path has the GUID of the source port, the LID of the destination, the GUID of the port with this LID (0
// for none), the ending, and the nodes with the ports in and out. It has no names and no times. The last line has the
// number of paths and their digest: the first half of the SHA-256 of their lines. So two files with the same paths have
// the same digest, and a truncated file is detected.
package traces

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/internal/base/plain"
)

// Ending is how a path ends.
type Ending uint8

// The endings.
const (
	Delivered    Ending = iota // at the port with the LID
	TooLong                    // at this port, over too many links for a directed route
	Loop                       // the path returns to a node; the last hop is this node
	Misdelivered               // at a port without the LID
	NoEntry                    // the table of the last switch has no entry for the LID
	NoSuchPort                 // the entry is a port that the last switch does not have
	NoLink                     // the link of the last port passes no packets
	Unreachable                // the source or the destination is not in the subnet
	NoLID                      // the source or the destination has no LID
	Unknown                    // the table of the last switch was not read
)

var endings = [...]string{
	Delivered: "delivered", TooLong: "too-long", Loop: "loop", Misdelivered: "misdelivered", NoEntry: "no-entry",
	NoSuchPort: "no-such-port", NoLink: "no-link", Unreachable: "unreachable", NoLID: "no-LID", Unknown: "unknown",
}

// String returns the word in files.
func (e Ending) String() string { return endings[e] }

// Arrives reports whether packets reach their destination.
func (e Ending) Arrives() bool { return e == Delivered || e == TooLong }

// NoPort is the missing port by which a path enters its first node or leaves its last node.
const NoPort = -1

// Hop is a node of a path, by its node GUID, and the ports by which the path enters and leaves it.
type Hop struct {
	GUID    uint64
	In, Out int16 // or NoPort
}

// Row is a path from the port with the GUID Src to a LID of the port with the GUID Dst. Dst is 0 if no port has the
// LID.
type Row struct {
	Src, Dst uint64
	LID      uint16
	Ending   Ending
	Hops     []Hop
}

// Key identifies a path.
type Key struct {
	Src, Dst uint64
	LID      uint16
}

// Key returns the key of the path.
func (r *Row) Key() Key { return Key{r.Src, r.Dst, r.LID} }

// Compare returns the order of two keys in files.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Src, other.Src), cmp.Compare(k.LID, other.LID), cmp.Compare(k.Dst, other.Dst))
}

// SamePath reports whether two rows have the same nodes, ports and ending. Their LIDs may differ.
func (r *Row) SamePath(other *Row) bool {
	return r.Ending == other.Ending && slices.Equal(r.Hops, other.Hops)
}

func appendGUID(b []byte, guid uint64) []byte {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], guid)
	return hex.AppendEncode(append(b, "0x"...), raw[:])
}

// append appends a hop as in files.
func (h Hop) append(b []byte) []byte {
	if h.In != NoPort {
		b = append(strconv.AppendInt(b, int64(h.In), 10), ':')
	}
	b = appendGUID(b, h.GUID)
	if h.Out != NoPort {
		b = strconv.AppendInt(append(b, ':'), int64(h.Out), 10)
	}
	return b
}

// String returns the hop as in files: the port in, the node GUID and the port out, such as "5:0x0002c90300000205:20".
func (h Hop) String() string { return string(h.append(nil)) }

// Append appends the line of the path, with a newline.
func (r *Row) Append(b []byte) []byte {
	b = strconv.AppendUint(append(appendGUID(b, r.Src), ' '), uint64(r.LID), 10)
	b = append(append(appendGUID(append(b, ' '), r.Dst), ' '), r.Ending.String()...)
	for _, h := range r.Hops {
		b = h.append(append(b, ' '))
	}
	return append(b, '\n')
}

const (
	rowDigest  = 8  // bytes of the digest of a row
	fileDigest = 16 // bytes of the digest of all rows
)

// Digest returns the digest of the line of the path, as text.
func (r *Row) Digest() string {
	var buf [512]byte
	sum := sha256.Sum256(r.Append(buf[:0]))
	return hex.EncodeToString(sum[:rowDigest])
}

// Digest computes the digest of rows.
type Digest struct {
	sum  hash.Hash
	line []byte
	rows int
}

// NewDigest returns the digest of no rows.
func NewDigest() *Digest { return &Digest{sum: sha256.New()} }

// Add adds the next row, and returns its line until the next call.
func (d *Digest) Add(r *Row) []byte {
	d.line = r.Append(d.line[:0])
	d.rows++
	_, _ = d.sum.Write(d.line) // a hash returns no error
	return d.line
}

// String returns the digest of the rows so far.
func (d *Digest) String() string { return hex.EncodeToString(d.sum.Sum(nil)[:fileDigest]) }

// Head describes where traces come from.
type Head struct {
	Subnet    string    // the identity of the subnet in the history
	State     string    // live, whatif, staged, base, or the number of a history entry
	Tables    time.Time // when the tables were read or computed
	Sweep     time.Time // when the subnet was last read, zero if it was not
	Selection string    // the pairs that were selected
}

const magic = "ibconsole traces 1"

// The words of the lines of the head, in their order, and of the lines after the rows.
const (
	subnetWord, stateWord, tablesWord, sweepWord, selectionWord = "subnet", "state", "tables", "sweep", "selection"
	nameWord, endWord                                           = "name", "end"
)

// Writer writes traces. It keeps the first error.
type Writer struct {
	w      *bufio.Writer
	digest *Digest
	nodes  map[uint64]bool
	last   Key
	err    error
}

// NewWriter writes the head of traces.
func NewWriter(w io.Writer, h *Head) *Writer {
	out := &Writer{w: bufio.NewWriter(w), digest: NewDigest(), nodes: map[uint64]bool{}}
	out.printf("%s\n%s %s\n%s %s\n%s %s\n", magic, subnetWord, quote(h.Subnet), stateWord, quote(h.State), tablesWord,
		h.Tables.UTC().Format(time.RFC3339Nano))
	if !h.Sweep.IsZero() {
		out.printf("%s %s\n", sweepWord, h.Sweep.UTC().Format(time.RFC3339Nano))
	}
	out.printf("%s %s\n", selectionWord, quote(h.Selection))
	return out
}

// quote returns a text in quotes. It escapes everything that a terminal does not print.
func quote(s string) string { return strconv.Quote(s) }

func (w *Writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// Add writes the next row. Rows must be in the order of their keys.
func (w *Writer) Add(r *Row) error {
	if k := r.Key(); k.Compare(w.last) < 0 && w.err == nil {
		w.err = fmt.Errorf("the path from 0x%016x to LID %d is not in the order of the file", r.Src, r.LID)
	} else {
		w.last = k
	}
	for _, h := range r.Hops {
		w.nodes[h.GUID] = true
	}
	if line := w.digest.Add(r); w.err == nil {
		_, w.err = w.w.Write(line)
	}
	return w.err
}

// Close writes the names of the nodes on the paths, the number of rows and the digest. The function name returns the
// description of a node, or "".
func (w *Writer) Close(name func(guid uint64) string) error {
	for _, guid := range slices.Sorted(maps.Keys(w.nodes)) {
		if text := name(guid); text != "" {
			w.printf("%s 0x%016x %s\n", nameWord, guid, quote(text))
		}
	}
	w.printf("%s %d %s\n", endWord, w.digest.rows, w.digest)
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// Digest returns the digest of the rows so far.
func (w *Writer) Digest() string { return w.digest.String() }

// NameOf returns a name for a node, escaped: the name in the file, or its GUID.
func (f *File) NameOf(guid uint64) string {
	if name := f.Names[guid]; name != "" {
		return plain.Escape(name)
	}
	return fmt.Sprintf("0x%016x", guid)
}
