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
func (st *State) UnknownLoop(u fabric.Unread) (why, try string) {
	var tries []string
	if u.SLs {
		if st.Settings.Conf() == "" {
			tries = append(tries, "engine from=/etc/opensm/opensm.conf")
		}
		tries = append(tries, "calibrate")
	}
	if u.SL2VL && st.Source.Kind != SourceFile {
		tries = append(tries, "sweep full sl2vl")
	}
	return u.String() + ", and the routes have rings of links that several VLs may break", strings.Join(tries, "; ")
}
