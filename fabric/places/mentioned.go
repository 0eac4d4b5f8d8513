// SPDX-License-Identifier: Apache-2.0

package places

import (
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
)

// Mentioned finds the first node that a sentence names in full, and its port where NAME/PORT stands there; of names
// that begin at the same place the longest counts. Node is [fabric.None] where it names none. O(nodes x length of
// text).
func Mentioned(f *fabric.Fabric, text string) Place {
	best, length := len(text), 0
	found := Place{Node: fabric.None, Port: fabric.None}
	for i := range f.Nodes {
		name := f.NodeName(fabric.NodeIndex(i))
		if at := wordsAt(text, name); at >= 0 && (at < best || at == best && len(name) > length) {
			best, length, found.Node = at, len(name), fabric.NodeIndex(i)
		}
	}
	if found.Node == fabric.None {
		return found
	}
	found = of(f, found.Node)
	if rest, ok := strings.CutPrefix(text[best+length:], "/"); ok {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if num, err := strconv.Atoi(digits); err == nil {
			if port := f.PortAt(found.Node, num); port != fabric.None {
				found = named(f, port)
			}
		}
	}
	return found
}

// wordsAt is where whole words stand in a text first, -1 where they do not.
func wordsAt(text, words string) int {
	for from := 0; words != ""; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			break
		}
		at += from
		if end := at + len(words); (at == 0 || !inWord(text[at-1])) && (end == len(text) || !inWord(text[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

// inWord reports whether a byte is part of a word that names a node.
func inWord(b byte) bool {
	return b == '-' || b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}
