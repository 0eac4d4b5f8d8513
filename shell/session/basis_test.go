// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
)

// A node that did not respond is named as it describes itself, and is escaped once where people read it.
func TestPlaceOfUnanswered(t *testing.T) {
	const name = "a\\b\x1b"
	var b fabric.Builder
	if _, err := b.AddNode(fabric.Node{GUID: 7, Type: mad.NodeSwitch, NumPorts: 2, Desc: name}); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	place := session.PlaceOf(f, &sweep.Unanswered{Node: fabric.Escape(name), GUID: 7, Port: 2})
	if want := fabric.Escape(name) + "/2"; place.Name != name || place.String() != want {
		t.Errorf("got %q, %q, want %q", place.Name, place, want)
	}
}
