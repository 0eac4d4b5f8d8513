// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
)

// mostUnread is how much of what could not be read people are told at once.
const mostUnread = 5

// unreadAnswer is what of a file could not be read; nothing where all was.
type unreadAnswer struct {
	Unread *unread.List `json:"unread,omitempty"`
}

func unreadOf(l *unread.List) unreadAnswer {
	if l.Count == 0 {
		return unreadAnswer{}
	}
	return unreadAnswer{l}
}

func (a unreadAnswer) text(w io.Writer) {
	if a.Unread == nil {
		return
	}
	for _, line := range a.Unread.Lines(mostUnread) {
		_, _ = fmt.Fprintln(w, "  "+line)
	}
}

// tablesNotRead names the switches of the subnet whose forwarding tables were not read. What an answer counts leaves
// out what depends on these.
type tablesNotRead struct {
	NotRead []string `json:"tables_not_read,omitempty"`
}

func tablesNotReadOf(t *fabric.Tables) (a tablesNotRead) {
	for _, n := range t.NotRead() {
		a.NotRead = append(a.NotRead, t.Fabric.NodeName(n))
	}
	return a
}

func (a tablesNotRead) text(w io.Writer) {
	if a.NotRead == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "  not read: the forwarding tables of %s: %s\n", count(len(a.NotRead), "switch"), prose.List(a.NotRead, mostUnread))
}
