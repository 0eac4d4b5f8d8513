// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"

	"example.org/ibconsole/fabric"
)

// UnknownLoop says why nobody knows whether there is a credit loop, and by which
// commands it can be known of the live subnet, "" for none. A simulated subnet has no
// subnet manager: there every path has SL 0, and VL 0 unless other VLs were written,
// so that nothing is unread.
func (st *State) UnknownLoop(u fabric.Unread, partial bool) (why, try string) {
	if partial {
		return "the forwarding tables of some switches are not known, and there may be rings of links through these",
			"sweep"
	}
	return u.String() + ", and the routes have rings of links that several VLs may break", st.ToKnow(u)
}

// ToKnow are the commands by which that which is unread of live tables can be known, "" for
// none.
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
