// SPDX-License-Identifier: Apache-2.0

package pathdb

import "errors"

// ErrNoTrace reports that the database was built without traces.
var ErrNoTrace = errors.New("the path database has path records without traces")

// Hop is a switch on a path, and the port through which packets leave the switch.
type Hop struct {
	GUID uint64
	Out  uint8
}

// Route appends the switches on the path from one LID to another. The first one is the source's switch. O(hops).
func (v *View) Route(dst []Hop, slid, dlid uint16) ([]Hop, error) {
	if v.root.HasTrace == 0 {
		return dst, ErrNoTrace
	}
	from, ok := v.ByLID(slid)
	if !ok {
		return dst, ErrSource
	}
	to, ok := v.ByLID(dlid)
	if !ok {
		return dst, ErrDestination
	}
	src := v.port(uint32(from))
	l := v.lid(dlid)
	switch {
	case from == to || src.peer == uint32(to) && src.sw == none:
		return dst, nil
	case src.sw == none || l.group == noGroup || src.flags&Gone != 0:
		return dst, ErrNoPath
	}
	for sw, n := src.sw, uint32(0); n <= v.root.Switches; n++ {
		out := value(v.data, symbol(v.data, v.root.OffTrace, sw, uint32(l.group)), l.at)
		dst = append(dst, Hop{GUID: word64(v.data, v.root.OffSwitches+uint64(sw)*switchSize), Out: uint8(out)})
		if out == 0 && word(v.data, v.root.OffSwitches+uint64(sw)*switchSize+8) == uint32(to) {
			return dst, nil
		}
		if uint32(out) >= v.root.Width {
			return dst, ErrNoPath
		}
		behind := word(v.data, v.root.OffWires+(uint64(sw)*uint64(v.root.Width)+uint64(out))*wireSize)
		if behind >= toPort {
			if behind == BehindPort(int32(to)) {
				return dst, nil
			}
			return dst, ErrNoPath
		}
		sw = behind
	}
	return dst, ErrNoPath
}
