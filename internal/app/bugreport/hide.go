// SPDX-License-Identifier: Apache-2.0

package bugreport

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/internal/base/mask"
)

// leastGUID is the minimum length of a GUID in a text.
const leastGUID = len("0x12345678")

// hider returns a function that replaces each name in a text by its kind, such as "(node)".
func hider(names map[string]string) func(string) string {
	kinds := make(map[string]string, len(names))
	for name, kind := range names {
		kinds[name] = "(" + kind + ")"
	}
	hideGUID := func(text string) string {
		if len(text) < leastGUID { // such as the identifier of a vendor
			return text
		}
		return "(GUID)"
	}
	return mask.New(kinds, hideGUID, func(string) string { return "(address)" }).Text
}

// tally returns texts such as "3 switch" from counts by word, the highest count first.
func tally(of map[string]int) []string {
	var all []string
	for x := range of {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	for i, x := range all {
		all[i] = fmt.Sprintf("%d %s", of[x], x)
	}
	return all
}
