// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"strings"
	"unicode"

	"example.org/ibconsole/fabric"
)

// pattern is a name, escaped, with every number as #.
func pattern(name string) string {
	var b strings.Builder
	digit := false
	for i := range len(name) {
		was := digit
		if digit = name[i] >= '0' && name[i] <= '9'; !digit {
			b.WriteByte(name[i])
		} else if !was {
			b.WriteByte('#')
		}
	}
	return fabric.Escape(b.String())
}

// hostName is the host in a node description such as "node-0001 HCA-1".
func hostName(desc string) string {
	host, _, _ := strings.Cut(strings.TrimSpace(desc), " ")
	return host
}

// serviceWords are words in the names of hosts that do not compute, with what these do.
var serviceWords = func() map[string]Kind {
	words := map[string]Kind{}
	for kind, list := range map[Kind]string{
		KindStorage: "backup data gpfs io ion lustre mds mdt mgs mgt nas nfs nsd oss ost srp storage stor target",
		KindGateway: "bridge gateway gw lnet router skyway",
		KindService: "admin login master mgmt monitor sched service svc ufm visu",
	} {
		for w := range strings.FieldsSeq(list) {
			words[w] = kind
		}
	}
	return words
}()

// serviceWord is the first word in a host's name that says that it serves, "" for
// none. Words are what stands between digits and signs.
func serviceWord(host string) string {
	for _, w := range strings.FieldsFunc(strings.ToLower(host), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if serviceWords[w] != KindHost {
			return w
		}
	}
	return ""
}
