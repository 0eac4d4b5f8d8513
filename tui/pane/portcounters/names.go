// SPDX-License-Identifier: Apache-2.0

package portcounters

import (
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
)

type countOf = records.Count

// shortNames are what people call the counters.
var shortNames = map[counters.Counter]string{
	counters.SymbolErrors: "symbol", counters.LinkErrorRecovery: "link recovery", counters.LinkDowned: "link downed", counters.RcvErrors: "rcv errors",
	counters.RcvRemotePhysical: "remote physical", counters.RcvSwitchRelay: "relay", counters.XmitDiscards: "discards", counters.XmitConstraintErrors: "xmit constraint",
	counters.RcvConstraintErrors: "rcv constraint", counters.LocalLinkIntegrity: "link integrity", counters.BufferOverruns: "overruns", counters.VL15Dropped: "VL15 dropped",
	counters.XmitWait: "waits", counters.QP1Dropped: "QP1 dropped",
}

// shortName is a counter in a table.
func shortName(c counters.Counter) string {
	if name, ok := shortNames[c]; ok {
		return name
	}
	return c.String()
}
