// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"encoding/binary"
	"slices"

	"example.org/ibconsole/fabric"
)

// setSlots gives each switch its slot, its place in the columns: switches with the same neighbours stand side by side,
// so that one run leads to them. It returns the switches in the order of slots, and needs their classes.
func (t *tree) setSlots(places []place) []fabric.SwitchIndex {
	up := classes(t.up)
	order := make([]fabric.SwitchIndex, len(places))
	for s := range order {
		order[s] = fabric.SwitchIndex(s)
	}
	hosts := func(s fabric.SwitchIndex) int {
		if places[s].hosts {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b fabric.SwitchIndex) int {
		return cmp.Or(cmp.Compare(up[a], up[b]), cmp.Compare(places[a].class, places[b].class),
			cmp.Compare(hosts(a), hosts(b)))
	})
	for slot, s := range order {
		places[s].slot = int32(slot)
	}
	for _, lists := range [][][]group{t.down, t.side, t.up} {
		for _, list := range lists {
			for i := range list {
				if r := list[i].remote; r != fabric.None {
					list[i].slot = places[r].slot
				}
			}
		}
	}
	return order
}

// none is the class of no switches.
const none = -1

// classes numbers the sets of switches that lists of groups lead to. It is none where they lead to adapters at most.
func classes(lists [][]group) []int32 {
	class := make([]int32, len(lists))
	numbers := map[string]int32{}
	for s, list := range lists {
		class[s] = number(numbers, neighbours(list))
	}
	return class
}

func neighbours(list []group) []int32 {
	var all []int32
	for i := range list {
		if r := list[i].remote; r != fabric.None {
			all = append(all, int32(r))
		}
	}
	return all
}

// number is that of a set, the next one where it is new, none where it is empty.
func number(numbers map[string]int32, set []int32) int32 {
	if len(set) == 0 {
		return none
	}
	slices.Sort(set)
	var key []byte
	for _, x := range slices.Compact(set) {
		key = binary.LittleEndian.AppendUint32(key, uint32(x))
	}
	n, ok := numbers[string(key)]
	if !ok {
		n = int32(len(numbers))
		numbers[string(key)] = n
	}
	return n
}
