// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"example.org/ibconsole/internal/base/files/tempfile"
	"example.org/ibconsole/mad"
)

// Contents holds the data from which a new database is made.
type Contents struct {
	Built  time.Time
	Origin string
	Prefix uint64 // of GIDs
	// LifeTime is the code of the packet lifetime for paths between different ports.
	LifeTime uint8
	// Ports is sorted by GUID. Other fields refer to a port by its index.
	Ports    []Port
	Switches []Switch
	// Groups holds the LIDs, in ascending order, of each switch that has any.
	Groups []Group
	// Rows is the number of rows of records.
	Rows    int
	Classes []Class
	// PKeys holds the different sets of P_Keys that ports have. Within a set, the P_Keys are in the order in which
	// paths prefer them.
	PKeys [][]PKey
	// SLMask marks the bits of an SL that come from the partition. The other bits come from the class.
	SLMask uint8
	// Records holds the class for each row and LID. Trace holds the egress port for each switch and LID. Trace is nil
	// if the database has no traces.
	Records, Trace *Matrix
}

// PKey holds a P_Key and the SL of its partition.
type PKey struct {
	Key mad.PKey
	SL  uint8
}

// Port is an end port.
type Port struct {
	GUID uint64
	LID  uint16
	LMC  uint8
	// Rate and MTU are the codes of the port's own link, 0 if the link does not limit paths.
	Rate, MTU uint8
	Flags     PortFlags
	// Switch is the switch to which the port belongs or is attached; SwitchPort is the port of the switch. If Switch is
	// -1, Peer is the port at the other end of the link, or -1.
	Switch, Peer int32
	SwitchPort   uint8
	// Row is the row of records for paths from this port, -1 if Switch is -1.
	Row int32
	// PKeys is the number of the port's set of P_Keys, -1 for full membership of the default partition only.
	PKeys int32
}

// Switch is a switch in traces.
type Switch struct {
	GUID uint64
	// Port is the index of the switch's port 0 in Ports, -1 if port 0 has no LID.
	Port int32
	// Behind describes the peer of each switch port from port 0 on. A value is the result of [BehindSwitch] or
	// [BehindPort], or it is [BehindNothing].
	Behind []uint32
}

// BehindSwitch returns the value in Switch.Behind for a port that is linked to a switch.
func BehindSwitch(sw int32) uint32 { return uint32(sw) }

// BehindPort returns the value in Switch.Behind for a port that is linked to an end port.
func BehindPort(port int32) uint32 { return toPort | uint32(port) }

// BehindNothing is the value in Switch.Behind for a port without a link.
const BehindNothing uint32 = none

// Group holds the LIDs of one switch.
type Group struct{ LIDs []uint16 }

// Encode returns the bytes of a database with the contents c. O(rows x groups).
func Encode(c *Contents) ([]byte, error) {
	h := heap{b: make([]byte, headSize, headSize+1<<20)}
	copy(h.b, Magic)
	if _, err := rand.Read(h.b[offID : offID+8]); err != nil {
		return nil, err
	}
	start := beginSegment(&h)
	r := root{
		State: 1, Built: max(0, c.Built.Unix()), Prefix: c.Prefix, LifeTime: uint32(c.LifeTime),
		SLMask: uint32(c.SLMask), OriginLen: uint32(len(c.Origin)),
		Ports: uint32(len(c.Ports)), Switches: uint32(len(c.Switches)), Groups: uint32(len(c.Groups)),
		Rows: uint32(c.Rows), Classes: uint32(len(c.Classes)),
	}
	if !slices.IsSortedFunc(c.Ports, func(a, b Port) int { return cmp.Compare(a.GUID, b.GUID) }) {
		return nil, fmt.Errorf("the ports of a path database are not sorted by GUID")
	}
	h.tables(&r, c)
	r.OffRecords = h.matrix(c.Records)
	if c.Trace != nil {
		h.wires(&r, c.Switches)
		r.OffTrace = h.matrix(c.Trace)
		r.HasTrace = 1
	}
	if len(h.b) >= maxSize-1<<20 {
		return nil, fmt.Errorf("the path database would have %d MB, but its addresses allow at most %d MB",
			len(h.b)>>20, maxSize>>20)
	}
	at := h.root(&r)
	h.endSegment(start)
	point(h.b, slot{State: 1, Root: at, End: uint64(len(h.b))})
	return h.b, nil
}

// point sets the current state.
func point(file []byte, s slot) {
	copy(file[slotAt(s.State):], s.bytes(file))
	binary.LittleEndian.PutUint64(file[offCurrent:], s.State)
}

// root appends the root to the file and returns its position.
func (h *heap) root(r *root) uint64 {
	h.align(8)
	at := uint64(len(h.b))
	h.b = r.append(h.b)
	return at
}

func beginSegment(h *heap) (start int) {
	h.align(8)
	start = len(h.b)
	h.b = append(h.b, segmentMagic...)
	h.b = append(h.b, make([]byte, 8)...)
	return start
}

func (h *heap) endSegment(start int) {
	h.align(8)
	b := h.b[start:]
	payload := b[segmentHeader:]
	binary.LittleEndian.PutUint64(b[8:], uint64(len(payload)))
	tables := len(h.b)
	for p := range slices.Chunk(payload, page) {
		h.b = binary.LittleEndian.AppendUint32(h.b, checksum(p))
	}
	sum := checksum(h.b[start : start+segmentHeader])
	h.b = binary.LittleEndian.AppendUint32(h.b, sum^checksum(h.b[tables:]))
	h.align(8)
}

// tables appends all tables except the matrices to the file.
func (h *heap) tables(r *root, c *Contents) {
	le := binary.LittleEndian
	r.OffPorts = h.elements(len(c.Ports), portSize, func(i int, b []byte) {
		p := &c.Ports[i]
		(&port{
			guid: p.GUID, row: uint32(p.Row), sw: uint32(p.Switch), peer: uint32(p.Peer), pKeys: uint32(p.PKeys),
			lid: p.LID, lmc: p.LMC, rate: p.Rate, mtu: p.MTU, switchPort: p.SwitchPort, flags: p.Flags,
		}).put(b)
	})
	r.OffSwitches = h.elements(len(c.Switches), switchSize, func(i int, b []byte) {
		le.PutUint64(b, c.Switches[i].GUID)
		le.PutUint32(b[8:], uint32(c.Switches[i].Port))
		le.PutUint32(b[12:], uint32(len(c.Switches[i].Behind)))
	})
	lids := lidTable(c)
	r.LIDs = uint32(len(lids))
	r.OffLIDs = h.elements(len(lids), lidSize, func(i int, b []byte) { putLID(b, lids[i]) })
	r.OffGroups = h.elements(len(c.Groups), groupSize, func(i int, b []byte) {
		le.PutUint32(b, uint32(len(c.Groups[i].LIDs)))
	})
	r.OffClasses = h.elements(len(c.Classes), classSize, func(i int, b []byte) { c.Classes[i].put(b) })
	var keys []PKey
	ends := make([]uint32, 1, len(c.PKeys)+1)
	for _, set := range c.PKeys {
		keys = append(keys, set...)
		ends = append(ends, uint32(len(keys)))
	}
	r.PKeySets, r.PKeys = uint32(len(c.PKeys)), uint32(len(keys))
	r.OffPKeySets = h.elements(len(ends), setSize, func(i int, b []byte) { le.PutUint32(b, ends[i]) })
	r.OffPKeys = h.elements(len(keys), pKeySize, func(i int, b []byte) {
		le.PutUint16(b, uint16(keys[i].Key))
		b[2], b[3] = keys[i].SL, 0
	})
	r.OffOrigin = h.elements(1, len(c.Origin), func(_ int, b []byte) { copy(b, c.Origin) })
}

func putLID(b []byte, l lid) {
	binary.LittleEndian.PutUint32(b, l.port)
	binary.LittleEndian.PutUint16(b[4:], l.group)
	binary.LittleEndian.PutUint16(b[6:], l.at)
}

// elements appends a table of n elements of the given size and returns the position of the table. It calls the function
// put to fill element i.
func (h *heap) elements(n, size int, put func(i int, b []byte)) uint64 {
	h.align(8)
	at := len(h.b)
	h.b = append(h.b, make([]byte, n*size)...)
	for i := range n {
		put(i, h.b[at+i*size:at+(i+1)*size])
	}
	return uint64(at)
}

func lidTable(c *Contents) []lid {
	most := 0
	for i := range c.Ports {
		p := &c.Ports[i]
		most = max(most, min(int(p.LID)+1<<p.LMC, math.MaxUint16+1))
	}
	lids := make([]lid, most)
	for i := range lids {
		lids[i] = lid{none, noGroup, 0}
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		for l := int(p.LID); p.LID != 0 && l < min(int(p.LID)+1<<p.LMC, most); l++ {
			lids[l].port = uint32(i)
		}
	}
	for g := range c.Groups {
		for at, l := range c.Groups[g].LIDs {
			lids[l].group, lids[l].at = uint16(g), uint16(at)
		}
	}
	return lids
}

// wires appends the table that describes the peer of each switch port. Traces need it.
func (h *heap) wires(r *root, switches []Switch) {
	for i := range switches {
		r.Width = max(r.Width, uint32(len(switches[i].Behind)))
	}
	r.OffWires = h.elements(len(switches)*int(r.Width), wireSize, func(i int, b []byte) {
		behind := switches[i/int(r.Width)].Behind
		to := BehindNothing
		if p := i % int(r.Width); p < len(behind) {
			to = behind[p]
		}
		binary.LittleEndian.PutUint32(b, to)
	})
}

// WriteFile writes a database file atomically. A reader finds either the previous file or the new one.
func WriteFile(name string, image []byte) error {
	f, err := tempfile.Create(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := f.Write(image); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, f.Close(), os.Remove(f.Name())))
	}
	if err := tempfile.Replace(f, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
