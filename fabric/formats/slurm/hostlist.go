// SPDX-License-Identifier: Apache-2.0

package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hostlist returns names in Slurm's notation, such as node-[0001-0018,0020],login. The names are those of [NodeName] or
// of switches. They are sorted, and repeated names are written once.
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
	slices.SortStableFunc(families, func(a, b family) int {
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

// maxDigits is the maximum number of digits of a number in a hostlist.
const maxDigits = 9

// split splits the number off the end of a name. ok is false if the name does not end with a number.
func split(name string) (prefix string, n uint64, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && len(name)-i < maxDigits {
		i--
	}
	n, err := strconv.ParseUint(name[i:], 10, 64)
	return name[:i], n, err == nil && i > 0
}

// ranges returns ascending numbers as text, with width digits each. Width 0 stands for a name without a number.
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

// maxExpanded is the maximum number of names in a hostlist. A subnet does not have LIDs for more hosts.
const maxExpanded = 49_152

// Expand returns the names in a hostlist (slurm.conf(5)). The list has names and terms such as
// name[0001-0018,0020]rest, separated by commas. Expand returns an error for brackets that are not closed, for
// descending ranges, and for more names than a subnet can have.
func Expand(list string) ([]string, error) {
	var out []string
	for list != "" {
		end := 0
		for depth := 0; end < len(list) && (list[end] != ',' || depth > 0); end++ {
			switch list[end] {
			case '[':
				depth++
			case ']':
				depth--
			}
		}
		names, err := expandOne(list[:end])
		if err != nil {
			return nil, err
		}
		if out = append(out, names...); len(out) > maxExpanded {
			return nil, fmt.Errorf("more than %d names", maxExpanded)
		}
		list = strings.TrimPrefix(list[end:], ",")
	}
	return out, nil
}

// expandOne expands the ranges in one term of a hostlist. It begins with the first brackets.
func expandOne(name string) ([]string, error) {
	head, rest, found := strings.Cut(name, "[")
	if !found {
		return []string{name}, nil
	}
	inside, tail, found := strings.Cut(rest, "]")
	if !found {
		return nil, fmt.Errorf("%q: a bracket is not closed", name)
	}
	tails, err := expandOne(tail)
	if err != nil {
		return nil, err
	}
	var out []string
	for part := range strings.SplitSeq(inside, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || b < a || b-a >= maxExpanded {
			return nil, fmt.Errorf("%q: %q is not a range of numbers, such as 0001-0064", name, part)
		}
		for n := a; n <= b; n++ {
			for _, t := range tails {
				out = append(out, fmt.Sprintf("%s%0*d%s", head, len(from), n, t))
			}
		}
		if len(out) > maxExpanded {
			return nil, fmt.Errorf("%q: more than %d names", name, maxExpanded)
		}
	}
	return out, nil
}
