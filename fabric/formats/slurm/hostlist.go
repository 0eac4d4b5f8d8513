// SPDX-License-Identifier: Apache-2.0

package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hostlist is a list of names as Slurm writes it: node-[0001-0018,0020],login. Names are those of [NodeName]
// or of switches; they are sorted, and one that comes twice is written once.
func Hostlist(names []string) string {
	type family struct {
		prefix string
		width  int
	}
	numbers := map[family][]uint64{}
	var families []family
	for _, name := range names {
		f, n, ok := split(name)
		fam := family{f, len(name) - len(f)}
		if !ok {
			fam = family{name, 0}
		}
		if numbers[fam] == nil {
			families = append(families, fam)
		}
		numbers[fam] = append(numbers[fam], n)
	}
	slices.SortFunc(families, func(a, b family) int {
		return cmp.Or(strings.Compare(a.prefix, b.prefix), cmp.Compare(a.width, b.width))
	})
	var out []string
	for _, f := range families {
		n := numbers[f]
		slices.Sort(n)
		out = append(out, f.prefix+ranges(slices.Compact(n), f.width))
	}
	return strings.Join(out, ",")
}

// maxDigits is how long a number in a hostlist may be here.
const maxDigits = 9

// split takes the number off the end of a name.
func split(name string) (prefix string, n uint64, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && len(name)-i < maxDigits {
		i--
	}
	n, err := strconv.ParseUint(name[i:], 10, 64)
	return name[:i], n, err == nil && i > 0
}

// ranges writes ascending numbers of so many digits; width 0 is for a name without.
func ranges(n []uint64, width int) string {
	if width == 0 {
		return ""
	}
	if len(n) == 1 {
		return fmt.Sprintf("%0*d", width, n[0])
	}
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		part := fmt.Sprintf("%0*d", width, n[i])
		if j > i {
			part += fmt.Sprintf("-%0*d", width, n[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return "[" + strings.Join(parts, ",") + "]"
}
