// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text from the wire safe to show on a terminal: control and format characters and bytes that are no
// UTF-8 become \n, \x1b, \u202e and the like, a backslash is doubled. Other text is returned as it is.
func Escape(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x20, r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case !unicode.IsPrint(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '\\' {
			return false
		}
	}
	return true
}

// NodeName is the escaped description of a node, or its GUID where that is empty.
func (f *Fabric) NodeName(node NodeIndex) string {
	n := &f.Nodes[node]
	if n.Desc == "" {
		return fmt.Sprintf("0x%016x", n.GUID)
	}
	return Escape(n.Desc)
}

// PortName names a port as "NAME/3", escaped.
func (f *Fabric) PortName(port PortIndex) string {
	p := &f.Ports[port]
	return fmt.Sprintf("%s/%d", f.NodeName(p.Node), p.Num)
}
