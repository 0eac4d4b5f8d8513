// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"

	"example.org/ibconsole/fabric"
)

// UnknownLoop returns the reason why it is unknown whether there is a credit loop, and the commands that read the
// missing data of the live subnet. The commands are "" if none helps. In a simulated subnet nothing is unread: every
// path has SL 0, and VL 0 unless other VLs were written.
func (st *State) UnknownLoop(u fabric.Unread, partial bool) (why, try string) {
	if partial {
		return "the forwarding tables of some switches are not known, and there may be rings of links through these",
			"sweep"
	}
	return u.String() + ", and the routes have rings of links that several VLs may break", st.ToKnow(u)
}

// ToKnow returns the commands that read the missing parts of the live tables, or "" if none helps.
func (st *State) ToKnow(u fabric.Unread) string {
	var tries, reads []string
	_, master := st.Master()
	switch {
	case u.SLs && master && st.Source.Live():
		reads = append(reads, "sl")
	case u.SLs:
		if st.Settings.Conf() == "" {
			tries = append(tries, "engine from=/etc/opensm/opensm.conf")
		}
		tries = append(tries, "calibrate")
	}
	if u.SL2VL && !st.Source.Offline() {
		reads = append(reads, "sl2vl")
	}
	if u.Groups && st.Source.Live() {
		tries = append(tries, "sa groups")
	}
	if len(reads) > 0 {
		tries = append(tries, "sweep full "+strings.Join(reads, " "))
	}
	return strings.Join(tries, "; ")
}
