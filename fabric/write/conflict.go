// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Conflict describes a value that would be overwritten although it has changed.
type Conflict struct {
	Node string `json:"node"` // escaped
	GUID string `json:"guid"`
	// What names the value, for example "LID 12", "LinearFDBTop", "VLs from port 1 to port 2" or "LID of port 1".
	What  string `json:"what"`
	Was   string `json:"was"`   // the known value, read or written
	Is    string `json:"is"`    // the current value
	Would string `json:"would"` // the value to be written
	// Written is set if a commit wrote the value and then read back a different one.
	Written bool `json:"written,omitempty"`
}

// String describes the conflict, for example "sw1: LID 12 was 3, is no route and would become 5".
func (c *Conflict) String() string {
	if c.Written {
		return fmt.Sprintf("%s: %s was written as %s and is %s", c.Node, c.What, c.text(c.Was), c.text(c.Is))
	}
	return fmt.Sprintf("%s: %s was %s, is %s and would become %s", c.Node, c.What, c.text(c.Was), c.text(c.Is),
		c.text(c.Would))
}

// text returns a value as text for people. For port 255 of a forwarding table entry it returns "no route".
func (c *Conflict) text(value string) string {
	if strings.HasPrefix(c.What, lidPrefix) && !strings.HasPrefix(c.What, lidPrefix+"of ") &&
		value == fmt.Sprint(fabric.NoPath) {
		return "no route"
	}
	return value
}

// lidPrefix is the beginning of Conflict.What for an entry of a forwarding table.
const lidPrefix = "LID "

// MostConflicts is the maximum number of conflicts that are listed. Further conflicts are only counted.
const MostConflicts = 1000

// Conflicts holds the number of conflicts and a list of the first ones.
type Conflicts struct {
	Count int        `json:"count"`
	List  []Conflict `json:"list"`
}

// Add counts a conflict, and lists it unless the list is full.
func (c *Conflicts) Add(node string, guid uint64, what string, was, is, would any) {
	if c.Count++; len(c.List) < MostConflicts {
		c.List = append(c.List, Conflict{node, fmt.Sprintf("0x%016x", guid), what, fmt.Sprint(was), fmt.Sprint(is),
			fmt.Sprint(would), false})
	}
}

// First returns a text with the first conflicts, at most this many, and the number of the others.
func (c *Conflicts) First(most int) string {
	if c.Count == most+1 {
		most++ // rather than "and 1 more"
	}
	var texts []string
	for i := range c.List[:min(len(c.List), most)] {
		texts = append(texts, c.List[i].String())
	}
	text := strings.Join(texts, ", ")
	if more := c.Count - len(texts); more > 0 {
		text += " " + prose.More(more)
	}
	return text
}

// AfterWriting returns the conflicts, all marked as Written.
func (c Conflicts) AfterWriting() Conflicts {
	c.List = slices.Clone(c.List)
	for i := range c.List {
		c.List[i].Written = true
	}
	return c
}

// Join adds the conflicts of another list that are not in the list yet.
func (c *Conflicts) Join(more Conflicts) {
	have := make(map[Conflict]bool, len(c.List))
	for _, w := range c.List {
		have[w] = true
	}
	c.Count += more.Count
	c.List = slices.Clip(c.List)
	for _, w := range more.List {
		switch {
		case have[w]:
			c.Count--
		case len(c.List) < MostConflicts:
			c.List = append(c.List, w)
		}
	}
}

// compare calls the function add if the current value (is) equals neither the known value (was) nor the value to be
// written (would).
func compare[T comparable](what func() string, was, is, would T, add func(what string, was, is, would any)) {
	if is != was && is != would {
		add(what(), was, is, would)
	}
}
