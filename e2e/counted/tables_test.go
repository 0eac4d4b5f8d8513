// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// tables holds the tables of the switches of a state, as written by `dump lfts`, `dump sls` and `dump sl2vl`.
type tables struct {
	// lft holds, by node GUID, the port for each LID that has one, top the highest LID of the table.
	lft map[uint64]map[int]int
	top map[uint64]int
	// mft holds, by node GUID, the ports of each multicast LID.
	mft map[uint64]map[int][]int
	// sls has the SLs that a path may have, by its two LIDs. It is nil if every path has SL 0.
	sls map[[2]int][]int
	// sl2vl is nil if every packet uses VL 0.
	sl2vl map[hopVLs][]int
}

// hopVLs identifies a table by the ports of a switch by which packets enter and leave. guid is that of its port 0.
type hopVLs struct {
	guid    uint64
	in, out int
}

var (
	tableLine = regexp.MustCompile(`^Unicast lids \[0-(\d+)\] of switch .*guid (0x[0-9a-f]{16}) \('.*'\):$`)
	entryLine = regexp.MustCompile(`^(0x[0-9a-f]{4}) (\d{3}) # `)
	fromLine  = regexp.MustCompile(`^from ([\d,-]+)$`)
	toLine    = regexp.MustCompile(`^to ([\d,-]+) ([\d-]+)$`)
	slvlNode  = regexp.MustCompile(`^(?:Switch|Channel Adapter|CA|Router|HCA|Host).*(0x[0-9a-f]{16})`)
	slvlLine  = regexp.MustCompile(`^(\d+) +(\d+) *:((?: +\d+)+) *$`)
)

func readLFTs(t testing.TB, text string) (lft map[uint64]map[int]int, top map[uint64]int) {
	t.Helper()
	lft, top = map[uint64]map[int]int{}, map[uint64]int{}
	var row map[int]int
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := tableLine.FindStringSubmatch(line); m != nil {
			row = map[int]int{}
			lft[hex(m[2])], top[hex(m[2])] = row, decimal(m[1])
		} else if m := entryLine.FindStringSubmatch(line); m != nil {
			row[int(hex(m[1]))] = decimal(m[2])
		} else if !strings.HasSuffix(line, " lids dumped") {
			t.Fatalf("cannot parse a line of the tables: %q", line)
		}
	}
	return lft, top
}

func readSLs(t testing.TB, text string) map[[2]int][]int {
	t.Helper()
	sls := map[[2]int][]int{}
	var from []int
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := fromLine.FindStringSubmatch(line); m != nil {
			from = ranges(m[1])
		} else if m := toLine.FindStringSubmatch(line); m != nil {
			for _, slid := range from {
				for _, dlid := range ranges(m[1]) {
					sls[[2]int{slid, dlid}] = ranges(m[2])
				}
			}
		} else if !strings.HasPrefix(line, "#") && line != "" {
			t.Fatalf("cannot parse a line of the service levels: %q", line)
		}
	}
	return sls
}

// slsOf returns the SLs that a path from one LID to another may have.
func (t *tables) slsOf(lids [2]int) []int {
	if sls := t.sls[lids]; sls != nil {
		return sls
	}
	return []int{0}
}

// slsText returns the SLs that a path may have as the commands print them.
func (t *tables) slsText(lids [2]int) string {
	sls := t.slsOf(lids)
	if len(sls) == 1 {
		return fmt.Sprint(sls[0])
	}
	return fmt.Sprintf("%d to %d", sls[0], sls[len(sls)-1])
}

// ranges parses a list of numbers such as 1-3,7.
func ranges(list string) (all []int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, _ := strings.Cut(part, "-")
		for n := decimal(first); n <= max(decimal(first), decimal(last)); n++ {
			all = append(all, n)
		}
	}
	return all
}

func readSL2VL(t testing.TB, text string) map[hopVLs][]int {
	t.Helper()
	all := map[hopVLs][]int{}
	guid := uint64(0)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := slvlNode.FindStringSubmatch(line); m != nil {
			guid = hex(m[1])
		} else if m := slvlLine.FindStringSubmatch(line); m != nil {
			var vls []int
			for vl := range strings.FieldsSeq(m[3]) {
				vls = append(vls, decimal(vl))
			}
			all[hopVLs{guid, decimal(m[1]), decimal(m[2])}] = vls
		} else if !strings.HasPrefix(line, "#") && line != "" {
			t.Fatalf("cannot parse a line of the VLs: %q", line)
		}
	}
	return all
}

// vl returns the VL of packets that pass a switch, 15 if they are dropped.
func (t *tables) vl(guid uint64, in, out, sl int) int {
	if t.sl2vl == nil {
		return 0
	}
	if vls := t.sl2vl[hopVLs{guid, in, out}]; vls != nil {
		return vls[sl]
	}
	return 0
}
