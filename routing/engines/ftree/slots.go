// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"encoding/binary"
	"slices"

	"example.org/ibconsole/fabric"
)

// setSlots assigns each switch its slot, that is, its index in a column of table entries. Switches with the same
// neighbours get adjacent slots, so that they form one run. It returns the switches in the order of slots. The classes
// of the switches must be set.
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

// none is the class of a switch without a class.
const none = -1

// classes numbers the sets of switches to which lists of groups lead. It returns the number for each list, or none if a
// list leads only to adapters.
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

// number returns the number of a set. A new set gets the next free number. The number of an empty set is none.
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
