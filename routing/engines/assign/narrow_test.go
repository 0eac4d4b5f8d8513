// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// TestNarrowTakesTheLeastUsed compares narrow with the plain choice, LID by LID.
func TestNarrowTakesTheLeastUsed(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 300, 30000) {
		compareNarrow(t, r)
	}
}

func compareNarrow(t *testing.T, r *rand.Rand) {
	const switches = 40
	numPorts, low := 1+r.IntN(60), r.IntN(190)
	most := 1 + r.IntN(numPorts) // ports of a set
	sets := routing.NewPortSets(switches, uint8(low+numPorts))
	var all targets
	for s := range fabric.SwitchIndex(switches) {
		if r.IntN(3) == 0 && s > 0 {
			copy(sets.Words(s), sets.Words(s-1))
		} else {
			for range r.IntN(most + 1) {
				sets.Add(s, uint8(low+1+r.IntN(numPorts)))
			}
		}
		all.runs = append(all.runs, run{sw: s, first: int32(len(all.lids)), counted: true})
		for range r.IntN(1 + []int{3, 8, 200}[r.IntN(3)]) {
			all.lids = append(all.lids, uint16(len(all.lids)+1))
		}
		all.runs[s].end = int32(len(all.lids))
	}
	all.list = make([]target, len(all.lids))
	row, now, want := make([]byte, len(all.lids)+1), make([]byte, len(all.lids)+1), make([]byte, len(all.lids)+1)
	for lid := range now {
		now[lid] = uint8(r.IntN(256))
	}
	var before, used [256]uint32
	for place := range before {
		before[place] = uint32(r.IntN(4))
	}
	var placeOf [256]uint8
	for i := range placeOf {
		placeOf[i] = uint8(i)
	}
	for _, mode := range []string{"counted", "keeping", "uncounted"} {
		counts := before
		var n narrow
		words, ok := n.window(sets)
		if !ok {
			t.Fatalf("%d ports from %d on are no window", numPorts, low)
		}
		clear(row)
		clear(want)
		n.begin(fabric.None, row, &placeOf, counts[:low+numPorts+1])
		used = before
		for i := range all.runs {
			all.runs[i].counted = mode != "uncounted"
		}
		switch mode {
		case "counted":
			n.routeCounted(&all, all.runs, words)
		case "keeping":
			n.routeKeeping(&all, all.runs, words, now)
		default:
			n.routeUncounted(&all, all.runs, words)
		}
		n.end(counts[:low+numPorts+1])
		for _, run := range all.runs {
			for _, lid := range all.lids[run.first:run.end] {
				kept := mode == "keeping" && int(now[lid]>>6) < len(sets.Words(run.sw)) && sets.Has(run.sw, now[lid])
				routePlainly(sets.Words(run.sw), &used, want, lid, now[lid], kept, run.counted)
			}
		}
		for lid := range want {
			if row[lid] != want[lid] {
				t.Fatalf("%s, %d ports from %d on: LID %d by %d, expected %d", mode, numPorts, low, lid,
					row[lid], want[lid])
			}
		}
		if counts != used {
			t.Fatalf("%s: different counts", mode)
		}
	}
}

// routePlainly routes to one LID by a set of ports.
func routePlainly(set []uint64, used *[256]uint32, row []byte, lid uint16, now uint8, kept, counted bool) {
	best := -1
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			if port := w<<6 | bits.TrailingZeros64(word); best < 0 || used[port] < used[best] {
				best = port
			}
		}
	}
	if kept {
		best = int(now)
	}
	if best >= 0 {
		row[lid] = uint8(best)
		if counted {
			used[best]++
		}
	}
}
