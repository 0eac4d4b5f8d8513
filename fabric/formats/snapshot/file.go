// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes a subnet with its tables into one file, and reads it back exactly as it was:
// indexes, descriptions, LIDs, forwarding tables, VLs, SLs and multicast.
//
// A file is the eight bytes "IBCSNAP\x01" and behind them one zstd frame with a
// checksum. In it stand sections, each a name, a length and as many bytes, the
// name and all numbers as unsigned varints and strings with their length first:
//
//	fabric  the SM's port + 1, then the nodes in order, each with its ports
//	lft     origin, highest LID, then of each switch: known, LinearFDBTop, the
//	        row from LID 0 to the highest
//	sl2vl   of each node, in and out port: 16 VLs
//	sls     of each source the row of SLs by LID, equal rows once
//	mft     the highest multicast LID, then of each switch and LID the port set
//	routing engine, options, roots, and the min-hop tables: of each pair of
//	        switches the hops, then the ports as words of 8 bytes, lowest first
//
// A section that a reader does not know is passed over.
package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric"
)

// Magic is how a snapshot begins.
const Magic = "IBCSNAP\x01"

// maxSize bounds what a file may unfold to: 3,000 switches with 48,000 LIDs, and their VLs, stay well below.
const maxSize = 4 << 30

// Snapshot is a subnet with what is known of its routes.
type Snapshot struct {
	Fabric *fabric.Fabric
	// Tables are nil for none. Their fabric is Fabric.
	Tables *fabric.Tables
	// Routing is nil where it is not known how the tables were made.
	Routing *Routing
}

// Write writes a snapshot.
func Write(w io.Writer, snap Snapshot) error {
	if _, err := io.WriteString(w, Magic); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	for _, s := range sections(&snap) {
		if _, err := z.Write(s.encode()); err != nil {
			return errors.Join(err, z.Close())
		}
	}
	return z.Close()
}

// EncodeRest encodes what tables hold beside the forwarding tables: lanes, service
// levels, multicast, and what is unread of them. It is empty where computed tables hold none of it.
func EncodeRest(t *fabric.Tables) []byte {
	var b []byte
	for _, s := range rest(t) {
		b = append(b, s.encode()...)
	}
	return b
}

// DecodeRest is the inverse of [EncodeRest]: it fills in t.
func DecodeRest(b []byte, t *fabric.Tables) error {
	return (&Snapshot{Fabric: t.Fabric, Tables: t}).decode(b)
}

type section struct {
	name string
	data []byte
}

func (s *section) encode() []byte {
	e := encoder{}
	e.string(s.name)
	e.uint(uint64(len(s.data)))
	return append(e.b, s.data...)
}

func sections(snap *Snapshot) []section {
	all := []section{{"fabric", EncodeFabric(snap.Fabric)}}
	if snap.Tables != nil {
		all = append(append(all, section{"lft", encodeLFT(snap.Tables)}), rest(snap.Tables)...)
	}
	if snap.Routing != nil {
		all = append(all, section{"routing", encodeRouting(snap.Routing)})
	}
	return all
}

// rest are the sections behind the forwarding tables.
func rest(t *fabric.Tables) []section {
	var all []section
	f := t.Fabric
	if t.Unread.Any() || t.Origin == fabric.LiveOrigin {
		all = append(all, section{"unread", encodeUnread(t.Unread)})
	}
	if t.SL2VL != nil {
		all = append(all, section{"sl2vl", encodeSL2VL(f, t.SL2VL)})
	}
	if t.SLs != nil {
		all = append(all, section{"sls", encodeSLs(f, t.SLs)})
	}
	if t.MFT != nil {
		all = append(all, section{"mft", encodeMFT(f, t.MFT)})
	}
	return all
}

// Read reads what [Write] wrote.
func Read(r io.Reader) (snap Snapshot, err error) {
	magic := make([]byte, len(Magic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != Magic {
		return snap, fmt.Errorf("not a snapshot: it begins with %q, expected %q", magic, Magic)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return snap, err
	}
	defer z.Close()
	var all bytes.Buffer
	if _, err := io.Copy(&all, io.LimitReader(z, maxSize)); err != nil {
		return snap, fmt.Errorf("snapshot: %w", err)
	}
	if err := snap.decode(all.Bytes()); err != nil {
		return Snapshot{}, err
	}
	if snap.Fabric == nil {
		return snap, errors.New("snapshot: there is no fabric in it")
	}
	return snap, nil
}

// decode reads sections, on top of what is known already.
func (snap *Snapshot) decode(b []byte) error {
	d := &decoder{b: b}
	told := false // what is unread: older versions did not say so of live tables
	for len(d.b) > 0 {
		name := d.string()
		data := d.bytes(int(d.uint(math.MaxInt64)))
		if d.err != nil {
			return fmt.Errorf("snapshot: %w", d.err)
		}
		if err := snap.section(name, data); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		told = told || name == "unread"
	}
	if t := snap.Tables; t != nil && !told && t.Origin == fabric.LiveOrigin {
		t.Unread = fabric.Unread{SLs: t.SLs == nil, SL2VL: t.SL2VL == nil}
	}
	return nil
}

func (snap *Snapshot) section(name string, data []byte) (err error) {
	f, t := snap.Fabric, snap.Tables
	switch {
	case name == "fabric" && f == nil:
		snap.Fabric, err = DecodeFabric(data)
	case name == "lft" && f != nil && t == nil:
		snap.Tables, err = decodeLFT(f, data)
	case name == "unread" && t != nil:
		t.Unread, err = decodeUnread(data)
	case name == "sl2vl" && t != nil:
		t.SL2VL, err = decodeSL2VL(f, data)
	case name == "sls" && t != nil:
		t.SLs, err = decodeSLs(data)
	case name == "mft" && t != nil:
		t.MFT, err = decodeMFT(f, data)
	case name == "routing" && f != nil:
		snap.Routing, err = decodeRouting(f, data)
	}
	return err
}
