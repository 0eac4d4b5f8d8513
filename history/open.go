// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"fmt"
)

// Chain is a commit that waits for its end, and those that were to bring it there and wait for theirs.
type Chain struct {
	// First is the commit that all began with: switches held what was before it, and were to get what comes after.
	First JournalEntry
	// Later are the others, the newest first.
	Later []JournalEntry
	// older are chains that were written over.
	older []JournalEntry
}

// Forward reports whether one of a chain was to write what the first was to, not what was there before that.
func (c *Chain) Forward(j *JournalEntry) bool {
	return j.ID == c.First.ID || j.Note != RollbackNote
}

// Find returns the one of a chain with that number, or one with an entry of that number.
func (c *Chain) Find(entry int64) (JournalEntry, bool) {
	for _, j := range append([]JournalEntry{c.First}, c.Later...) {
		if entry == j.Before || entry == j.After {
			return j, true
		}
	}
	return JournalEntry{}, false
}

// Open returns the commit of a subnet that waits for its end, and false where there is none. It is to be
// asked under the subnet's [Lock], or the commit may be one that another console carries out at the moment.
func (s *Store) Open(ctx context.Context, subnet string) (Chain, bool, error) {
	all, err := s.Journal(ctx, subnet)
	if err != nil {
		return Chain{}, false, err
	}
	c, found := chain(all)
	return c, found, nil
}

// chain finds the newest chain in a journal, the newest commit first.
func chain(all []JournalEntry) (c Chain, found bool) {
	first := map[int64]int64{} // of each that is open
	for i := range all {
		j := &all[len(all)-1-i]
		if !j.Outcome.Open() {
			continue
		}
		first[j.ID] = j.ID
		if f, ok := first[j.Ends]; ok {
			first[j.ID] = f
		}
		c.First.ID, found = first[j.ID], true
	}
	for _, j := range all {
		switch f, open := first[j.ID]; {
		case j.ID == c.First.ID:
			c.First = j
		case open && f == c.First.ID:
			c.Later = append(c.Later, j)
		case open:
			c.older = append(c.older, j)
		}
	}
	return c, found
}

// Settle notes that the switches hold what a commit was to write: the first of a chain or, with back, what
// was there before that. by is the commit that brought this about, 0 where there was nothing left to write.
func (s *Store) Settle(ctx context.Context, c Chain, by int64, back bool) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		how := map[int64]Outcome{}
		for _, j := range append([]JournalEntry{c.First}, c.Later...) {
			how[j.ID] = RolledBack
			if c.Forward(&j) != back {
				how[j.ID] = Finished
			}
		}
		if !back {
			for _, j := range c.older {
				how[j.ID] = WrittenOver
			}
			if by == 0 {
				how[c.First.ID] = Done
			}
			if c.First.Ends != 0 {
				how[c.First.Ends] = Finished
				if c.First.IsRollback() {
					how[c.First.Ends] = RolledBack
				}
			}
		}
		if by != 0 {
			how[by] = Done
		}
		for id, how := range how {
			if err := end(ctx, tx, id, how); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("journal the end of the commit: %w", err)
	}
	return nil
}
