// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric/formats/unread"
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
