// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"iter"
	"slices"
)

// LIDRange holds the LIDs from Min to Max.
type LIDRange struct{ Min, Max uint16 }

func (r LIDRange) String() string {
	if r.Min == r.Max {
		return fmt.Sprintf("LID %d", r.Min)
	}
	return fmt.Sprintf("LIDs %d to %d", r.Min, r.Max)
}

// GUID2LID holds the LIDs that OpenSM remembers. OpenSM keeps them in the file guid2lid. Like OpenSM, the table holds
// records as text. A record that OpenSM cannot read is ignored, but still written back.
//
// The order of records is that of OpenSM's hash table (st.c), which depends on the order of insertion. OpenSM resolves
// conflicts and writes the file in this order. The zero value is empty and ready for use.
type GUID2LID struct {
	// bins holds the records by hash. A new record is appended to its bin. OpenSM walks a bin from the newest record to
	// the oldest.
	bins [][]guidRecord
	len  int
	// used marks the LIDs that are reserved for a port. It is nil before the records are validated. top is the highest
	// LID that OpenSM has seen at a port.
	used []bool
	top  uint16
}

// GUIDRecord is a record of a guid2lid file.
type GUIDRecord struct {
	// Key and Value are the text of the record in the file. OpenSM finds a GUID only by a key of the form
	// 0x0002c90300000001.
	Key, Value string
	GUID       uint64   // the number in Key
	LIDs       LIDRange // the LIDs in Value, if it is Readable
	Readable   bool
}

type guidRecord struct {
	GUIDRecord
	hash uint32
}

const (
	minBins    = 11
	maxDensity = 5
)

// binCounts lists the numbers of bins that the table has as it grows (st.c).
var binCounts = []int{
	minBins, 16 + 3, 32 + 5, 64 + 3, 128 + 3, 256 + 27, 512 + 9, 1024 + 9, 2048 + 5, 4096 + 3, 8192 + 27,
	16384 + 43, 32768 + 3, 65536 + 45, 131072 + 29, 262144 + 3, 524288 + 21, 1048576 + 7,
}

// Len returns the number of records.
func (t *GUID2LID) Len() int { return t.len }

// Get returns the LIDs of the record for a port GUID. It returns false if there is no record or it is not readable.
func (t *GUID2LID) Get(guid uint64) (LIDRange, bool) {
	r := t.find(guidKey(guid))
	if r == nil || !r.Readable {
		return LIDRange{}, false
	}
	return r.LIDs, true
}

// Set sets the LIDs of a port GUID. It reports whether the text of the table changed.
func (t *GUID2LID) Set(guid uint64, lids LIDRange) bool {
	value := fmt.Sprintf("0x%04x 0x%04x", lids.Min, lids.Max)
	key := guidKey(guid)
	r := t.find(key)
	if r == nil {
		return t.Add(GUIDRecord{Key: key, Value: value, GUID: guid, LIDs: lids, Readable: true})
	}
	if r.Value == value {
		return false
	}
	r.Value, r.LIDs, r.Readable = value, lids, true
	return true
}

// SetPorts sets the LIDs of all ports that have one, that of the subnet manager first.
func (t *GUID2LID) SetPorts(f *Fabric) {
	ends := f.EndPorts
	if f.SMPort != None {
		ends = append([]PortIndex{f.EndPortOf(f.SMPort)}, ends...)
	}
	for _, e := range ends {
		if p := &f.Ports[e]; p.LID != 0 {
			t.Set(p.GUID, p.LIDRange())
		}
	}
}

// Reserve adds a record that reserves LIDs for a port that is not in the subnet. It does nothing if the port has a
// record or if one of the LIDs is taken. The table must be the result of an assignment.
func (t *GUID2LID) Reserve(guid uint64, lids LIDRange) {
	if t.find(guidKey(guid)) != nil || slices.Contains(t.used[lids.Min:lids.Max+1], true) {
		return
	}
	t.Set(guid, lids)
	for lid := lids.Min; lid <= lids.Max; lid++ {
		t.used[lid] = true
	}
}

// Add adds a record. It returns false if the table already has a record with the same key.
func (t *GUID2LID) Add(r GUIDRecord) bool {
	if t.find(r.Key) != nil {
		return false
	}
	if t.bins == nil {
		t.bins = make([][]guidRecord, minBins)
	}
	if t.len/len(t.bins) > maxDensity {
		t.grow()
	}
	rec := guidRecord{r, hashKey(r.Key)}
	bin := rec.hash % uint32(len(t.bins))
	t.bins[bin] = append(t.bins[bin], rec)
	t.len++
	return true
}

// Delete removes the record of a port GUID. It reports whether there was such a record.
func (t *GUID2LID) Delete(guid uint64) bool {
	if t.len == 0 {
		return false
	}
	key := guidKey(guid)
	bin := hashKey(key) % uint32(len(t.bins))
	i := slices.IndexFunc(t.bins[bin], func(r guidRecord) bool { return r.Key == key })
	if i < 0 {
		return false
	}
	t.bins[bin] = slices.Delete(t.bins[bin], i, i+1)
	t.len--
	return true
}

// Records yields all records in the order of OpenSM. The table must not change during the iteration.
func (t *GUID2LID) Records() iter.Seq[GUIDRecord] {
	return func(yield func(GUIDRecord) bool) {
		for _, bin := range t.bins {
			for _, r := range slices.Backward(bin) {
				if !yield(r.GUIDRecord) {
					return
				}
			}
		}
	}
}

// Clone returns a copy of the table. The copy of a nil table is empty.
func (t *GUID2LID) Clone() *GUID2LID {
	if t == nil {
		return &GUID2LID{}
	}
	c := &GUID2LID{bins: slices.Clone(t.bins), len: t.len, used: slices.Clone(t.used), top: t.top}
	for i, bin := range c.bins {
		c.bins[i] = slices.Clone(bin)
	}
	return c
}

// clear removes all records. As in OpenSM, the number of bins does not change.
func (t *GUID2LID) clear() {
	for i := range t.bins {
		t.bins[i] = nil
	}
	t.len, t.used = 0, nil
}

func (t *GUID2LID) find(key string) *guidRecord {
	if t.len == 0 {
		return nil
	}
	bin := t.bins[hashKey(key)%uint32(len(t.bins))]
	for i := range bin {
		if bin[i].Key == key {
			return &bin[i]
		}
	}
	return nil
}

func (t *GUID2LID) grow() {
	next := slices.IndexFunc(binCounts, func(n int) bool { return n > len(t.bins) })
	if next < 0 {
		return
	}
	old := t.bins
	t.bins = make([][]guidRecord, binCounts[next])
	for _, bin := range old {
		for _, r := range slices.Backward(bin) {
			to := r.hash % uint32(len(t.bins))
			t.bins[to] = append(t.bins[to], r)
		}
	}
}

// hashKey returns OpenSM's hash of a string (st.c, strhash). Bytes are signed, as on amd64.
func hashKey(s string) uint32 {
	var v int32
	for i := range len(s) {
		v = v*997 + int32(int8(s[i]))
	}
	return uint32(v + v>>5)
}

func guidKey(guid uint64) string {
	const hex = "0123456789abcdef"
	key := [18]byte{'0', 'x'}
	for i := range 16 {
		key[2+i] = hex[guid>>(60-4*i)&0xf]
	}
	return string(key[:])
}
