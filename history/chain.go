// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"slices"
)

// Chain is a commit that has not ended, together with the later commits that were to finish it or roll it back and have
// not ended either.
type Chain struct {
	// First is the first commit of the chain. It changes the switches from state Before to state After.
	First JournalEntry
	// Later are the others, the newest first.
	Later []JournalEntry
	// older are chains that were overwritten.
	older []JournalEntry
}

// Forward reports whether commit j of the chain writes the state after the first commit. Otherwise it writes the state
// before the first commit.
func (c *Chain) Forward(j *JournalEntry) bool {
	return j.ID == c.First.ID || j.Note != RollbackNote
}

// Find returns the commit of the chain that has the entry as its Before or After.
func (c *Chain) Find(entry int64) (JournalEntry, bool) {
	for _, j := range append([]JournalEntry{c.First}, c.Later...) {
		if entry == j.Before || entry == j.After {
			return j, true
		}
	}
	return JournalEntry{}, false
}

// Open returns the chain of a subnet's commit that has not ended. It returns false if all commits have ended. It
// considers only commits for which the function isCandidate returns true; nil stands for all. The caller must hold the
// subnet's [Lock]. Otherwise the commit may be in progress in another console.
func (s *Store) Open(ctx context.Context, subnet string, isCandidate func(id int64) bool) (Chain, bool, error) {
	all, err := s.Journal(ctx, subnet)
	if err != nil {
		return Chain{}, false, err
	}
	if isCandidate != nil {
		all = slices.DeleteFunc(all, func(j JournalEntry) bool { return !isCandidate(j.ID) })
	}
	c, found := chain(all)
	return c, found, nil
}

// chain returns the newest chain in a journal. The journal lists the newest commit first.
func chain(all []JournalEntry) (c Chain, found bool) {
	first := map[int64]int64{} // the first commit of the chain of each open commit
	for i := range all {
		j := &all[len(all)-1-i]
		if !j.Outcome.Open() {
			continue
		}
		first[j.ID] = j.ID
		if f, ok := first[j.Completes]; ok {
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

// Settle records the end of a chain. The switches now have the state after the first commit of the chain or, if the
// argument back is set, the state before this commit. The state was written by the commit with the number by, 0 if no
// write was necessary.
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
			if c.First.Completes != 0 {
				how[c.First.Completes] = Finished
				if c.First.IsRollback() {
					how[c.First.Completes] = RolledBack
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
	return failed("journal the end of the commit", err)
}

// Lose records that the commits of a chain are [Lost].
func (s *Store) Lose(ctx context.Context, c Chain) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		for _, j := range append([]JournalEntry{c.First}, c.Later...) {
			if err := end(ctx, tx, j.ID, Lost); err != nil {
				return err
			}
		}
		return nil
	})
	return failed("journal the end of the commit", err)
}
