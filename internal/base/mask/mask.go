// SPDX-License-Identifier: Apache-2.0

// Package mask replaces names, GUIDs and addresses in text.
package mask

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/plain"
)

// leastHidden is the minimum length of a name that is replaced, in bytes.
const leastHidden = 3

var (
	guid    = regexp.MustCompile(`(?i)\b(0x[0-9a-f]{5,16}|[0-9a-f]{16})\b`)
	address = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`)
)

// Masker replaces names, GUIDs and addresses. GUID and Address return the replacement of a match.
type Masker struct {
	names         *strings.Replacer
	guid, address func(string) string
}

// New returns a masker that replaces each name in the map by its value. Longer names are replaced first. Names of fewer
// than three bytes stay.
func New(names map[string]string, guid, address func(string) string) *Masker {
	all := map[string]string{}
	for name, to := range names {
		for _, form := range []string{name, plain.Escape(name)} {
			if len(form) >= leastHidden {
				all[form] = to
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
	return &Masker{strings.NewReplacer(pairs...), guid, address}
}

// Replace returns the text with everything replaced.
func (m *Masker) Replace(text string) string {
	text = guid.ReplaceAllStringFunc(m.names.Replace(text), m.guid)
	return address.ReplaceAllStringFunc(text, m.address)
}

// Text returns the text with everything replaced, and escaped.
func (m *Masker) Text(text string) string { return plain.Escape(m.Replace(text)) }
