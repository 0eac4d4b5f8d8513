// SPDX-License-Identifier: Apache-2.0

package bugreport

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// leastHidden is the minimum length of a name that is hidden, in bytes.
const leastHidden = 3

var (
	guid    = regexp.MustCompile(`(?i)\b0x[0-9a-f]{8,16}\b`)
	address = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`)
)

// hider returns a function that replaces each name in a text by its kind, such as "(node)". Longer names are replaced
// first.
func hider(names map[string]string) func(string) string {
	all := map[string]string{}
	for name, kind := range names {
		for _, form := range []string{name, fabric.Escape(name)} {
			if len(form) >= leastHidden {
				all[form] = "(" + kind + ")"
			}
		}
	}
	list := make([]string, 0, len(all))
	for name := range all {
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, name := range list {
		pairs = append(pairs, name, all[name])
	}
	r := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = guid.ReplaceAllString(r.Replace(text), "(GUID)")
		return fabric.Escape(address.ReplaceAllString(text, "(address)"))
	}
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
