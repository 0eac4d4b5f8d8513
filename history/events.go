// SPDX-License-Identifier: Apache-2.0

package history

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// Event is a change of the subnet, or another event that belongs to an entry.
type Event struct {
	When time.Time `json:"when"`
	What string    `json:"what,omitempty"` // one of the constants below, "" for others
	Text string    `json:"text"`
	Who  string    `json:"who,omitempty"` // the probable author, in words
	// GUID is the node that the event concerns, and Port is the port of the node. Both are 0 if the event concerns no
	// node or port.
	GUID uint64 `json:"guid,omitempty"`
	Port int    `json:"port,omitempty"`
	// PeerGUID and PeerPort are the other end of a link that went down or came up. Down is set if it went down.
	PeerGUID uint64 `json:"peer_guid,omitempty"`
	PeerPort int    `json:"peer_port,omitempty"`
	Down     bool   `json:"down,omitempty"`
}

// The subjects of events.
const (
	WhatNode    = "node"
	WhatLink    = "link"
	WhatPort    = "port"
	WhatTables  = "tables"
	WhatManager = "manager"
	WhatCommit  = "commit"
	WhatSM      = "SM"     // what a subnet manager did, according to its log
	WhatSMLog   = "SM log" // that its log is followed or no longer followed, and what it leaves out
	WhatAlert   = "alert"  // that an alert started or ended
	WhatRest    = "rest"   // nothing has happened; not on a timeline
)

// maxEvents is the maximum number of events of an entry. Only the latest events are kept. Events are removed together
// with their entry.
const maxEvents = 500

func packEvents(all []Event) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all[max(0, len(all)-maxEvents):])
	return string(text), err
}

func unpackEvents(text string) (all []Event, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &all)
	}
	return all, err
}

// Changes reports whether the event is one of the changes that led to the state of the entry.
func (e *Event) Changes() bool { return (e.GUID != 0 || e.What == WhatTables) && !e.IsRemark() }

// IsRemark reports whether the event comes from the log of a subnet manager, or is an alert. It changes no state.
func (e *Event) IsRemark() bool {
	return e.What == WhatSM || e.What == WhatSMLog || e.What == WhatAlert
}

// addEvents adds events to an existing entry. It adds changes that led to the state of the entry only if the entry has
// none.
func (w *writer) addEvents(tx *sql.Tx, id int64, more []Event) error {
	if len(more) == 0 {
		return nil
	}
	var text string
	if err := tx.QueryRowContext(w.ctx, "SELECT events FROM entry WHERE id = ?", id).Scan(&text); err != nil {
		return err
	}
	all, err := unpackEvents(text)
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(all, func(e Event) bool { return e.Changes() })
	for i := range more {
		if e := &more[i]; !known || !e.Changes() {
			all = append(all, *e)
		}
	}
	if text, err = packEvents(all); err == nil {
		_, err = tx.ExecContext(w.ctx, "UPDATE entry SET events = ? WHERE id = ?", text, id)
	}
	return err
}
