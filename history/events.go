// SPDX-License-Identifier: Apache-2.0

package history

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// Event is a change that was found when an entry was read.
type Event struct {
	When time.Time `json:"when"`
	What string    `json:"what,omitempty"` // one of the constants below, "" for others
	Text string    `json:"text"`
	Who  string    `json:"who,omitempty"` // the probable author, in words
	// GUID is the node of the event, Port a port of it; 0 for none.
	GUID uint64 `json:"guid,omitempty"`
	Port int    `json:"port,omitempty"`
}

// The subjects of events.
const (
	WhatNode    = "node"
	WhatLink    = "link"
	WhatPort    = "port"
	WhatTables  = "tables"
	WhatManager = "manager"
	WhatCommit  = "commit"
	WhatRest    = "rest" // nothing has happened; not on a timeline
)

// maxEvents is how many events an entry keeps, the latest. They are removed with the entry.
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

// Changes reports whether the event led to the state of its entry.
func (e *Event) Changes() bool { return e.GUID != 0 || e.What == WhatTables }

// addEvents adds events to an existing entry. The events that led to its state are added only once.
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
