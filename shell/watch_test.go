// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// TestEventLeads: an event of a port is a row of when, what, event and who, and leads to the port; one of none leads nowhere.
func TestEventLeads(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	down := session.Event{When: at, What: session.WhatLink, Text: "a/1 to b/2: link down", Who: "cable", Change: &fabric.Change{Kind: fabric.LinkDown, At: fabric.End{GUID: 7, Port: 1}}}
	r := eventOf(down)
	if got := fmt.Sprint(r.Detail()); got != "[2026-01-02 03:04:05 link a/1 to b/2: link down cable]" {
		t.Error(got)
	}
	if l := r.Lead(); l.GUID != 7 || l.Port != 1 {
		t.Errorf("%+v", l)
	}
	if l := eventOf(session.Event{When: at, Text: "said"}).Lead(); l != (Lead{}) {
		t.Errorf("%+v", l)
	}
}
