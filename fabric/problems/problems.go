// SPDX-License-Identifier: Apache-2.0

// Package problems says what is wrong with a subnet, without following packets: links below what they could be,
// errors that ports count, what does not answer, what two claim, and what is other than in a baseline.
//
// Everything it says is true of what it was given; what it could not look at is an [Unchecked].
package problems

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
)

// Severity says how much a problem matters.
type Severity uint8

// The severities, the worst first.
const (
	Error   Severity = iota // what breaks packets, or will
	Warning                 // costs bandwidth or safety
	Note                    // worth knowing
)

func (s Severity) String() string { return [...]string{"error", "warning", "note"}[min(s, Note)] }

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Kind is what is wrong in two or three words.
type Kind string

// The kinds, each with its row in [table].
const (
	NotRead        Kind = "not read"
	CommitCutShort Kind = "commit cut short"
	DuplicateGUID  Kind = "duplicate GUID"
	DuplicateLID   Kind = "duplicate LID"
	Disconnected   Kind = "connection lost"
	NoMaster       Kind = "no subnet manager"
	TwoMasters     Kind = "two masters"
	SilentManager  Kind = "silent manager"
	CutOff         Kind = "paths lost"
	Loops          Kind = "routes loop"
	Misdelivered   Kind = "wrong port"
	TooLong        Kind = "path too long"
	CreditLoop     Kind = "credit loop"
	Silent         Kind = "no answer"
	TableUnread    Kind = "table not read"
	Alone          Kind = "no link"
	NoLID          Kind = "no LID"
	Drifted        Kind = "routes drifted"
	TablesDiffer   Kind = "other routes"
	Missing        Kind = "missing"
	LinkMissing    Kind = "link missing"
	Recabled       Kind = "re-cabled"
	Flapping       Kind = "flapping"
	Narrow         Kind = "narrow link"
	Slow           Kind = "slow link"
	Rising         Kind = "errors rising"
	NotActive      Kind = "link not active"
	UnlikeFEC      Kind = "unlike FEC"
	BitErrors      Kind = "bit errors"
	Hot            Kind = "hot cable"
	Errors         Kind = "errors counted"
	Limited        Kind = "link limited"
	DeadInGroup    Kind = "dead port in group"
	ThinGroup      Kind = "thin group"
	StaticOutside  Kind = "static port outside group"
	AdaptiveOff    Kind = "adaptive routing off"
	Odd            Kind = "odd in the structure"
	Changed        Kind = "changed"
	Added          Kind = "new"
	Noticed        Kind = "noticed"
)

// table has the kinds in the order in which they are told where they are equally severe, and how severe they are where
// nothing else is said.
var table = []struct {
	Kind
	Severity
}{
	{NotRead, Error},
	{CommitCutShort, Error},
	{DuplicateGUID, Error},
	{DuplicateLID, Error},
	{Disconnected, Error},
	{NoMaster, Error},
	{TwoMasters, Error},
	{SilentManager, Warning},
	{CutOff, Error},
	{Loops, Error},
	{Misdelivered, Error},
	{TooLong, Error},
	{CreditLoop, Error},
	{Silent, Error},
	{TableUnread, Error},
	{Alone, Error},
	{NoLID, Error},
	{Drifted, Error},
	{TablesDiffer, Warning},
	{Missing, Error},
	{LinkMissing, Error},
	{Recabled, Error},
	{Flapping, Error},
	{Narrow, Error},
	{Slow, Warning},
	{Rising, Warning},
	{NotActive, Error},
	{UnlikeFEC, Error},
	{BitErrors, Warning},
	{Hot, Warning},
	{Errors, Warning},
	{Limited, Warning},
	{DeadInGroup, Warning},
	{ThinGroup, Warning},
	{StaticOutside, Warning},
	{AdaptiveOff, Warning},
	{Odd, Note},
	{Changed, Note},
	{Added, Note},
	{Noticed, Note},
}

// row returns the place of a kind in the table, and how severe it is; one that is not there comes last, as a note.
func (k Kind) row() (rank int, s Severity) {
	for i := range table {
		if table[i].Kind == k {
			return i, table[i].Severity
		}
	}
	return len(table), Note
}

// Place is where a problem is: a node, or with Port above -1 a port of it. It is the
// zero value with Port -1 for what the whole subnet has.
type Place struct {
	GUID uint64
	Port int
	Name string // escaped
}

// Nowhere is the place of what the whole subnet has.
var Nowhere = Place{Port: -1}

// In finds the place in a picture; port is None for a node, and both are where the picture does not have it.
func (p Place) In(f *fabric.Fabric) (node fabric.NodeIndex, port fabric.PortIndex) {
	node = f.NodeByGUID(p.GUID)
	if node == fabric.None || p.Port < 0 {
		return node, fabric.None
	}
	return node, f.PortAt(node, p.Port)
}

// MarshalJSON gives name, GUID and port, and nothing of what is not there.
func (p Place) MarshalJSON() ([]byte, error) {
	var out struct {
		Name string `json:"name,omitempty"`
		GUID string `json:"guid,omitempty"`
		Port *int   `json:"port,omitempty"`
	}
	if out.Name = p.Name; p.GUID != 0 {
		out.GUID = fmt.Sprintf("0x%016x", p.GUID)
	}
	if p.Port >= 0 {
		out.Port = &p.Port
	}
	return json.Marshal(out)
}

// PlaceOfNode is a node.
func PlaceOfNode(f *fabric.Fabric, node fabric.NodeIndex) Place {
	return Place{f.Nodes[node].GUID, -1, f.NodeName(node)}
}

// PlaceOfPort is a port.
func PlaceOfPort(f *fabric.Fabric, port fabric.PortIndex) Place {
	p := &f.Ports[port]
	return Place{f.Nodes[p.Node].GUID, int(p.Num), f.PortName(port)}
}

// Problem is one thing that is not as it should be.
type Problem struct {
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	At       Place    `json:"at"`
	// What says what is wrong in a sentence without a full stop, names escaped, and Try what to do about it.
	What string `json:"what"`
	Try  string `json:"try"`
	// Since is from when on it is so, zero where that is not known.
	Since time.Time `json:"since,omitzero"`
}

// Unchecked is something that could not be looked at.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
	// Try is the command after which it can, "" where there is none.
	Try string `json:"try,omitempty"`
	// Unknown says that it was looked at, and may be a problem: it depends on what nobody read.
	Unknown bool `json:"unknown,omitempty"`
}

// Report is what was found, the worst first, and what was not looked at.
type Report struct {
	Problems  []Problem   `json:"problems"`
	Unchecked []Unchecked `json:"unchecked"`
}

// Add adds a problem that is as severe as its kind.
func (r *Report) Add(k Kind, at Place, try, format string, args ...any) {
	_, s := k.row()
	r.AddAs(s, k, at, try, format, args...)
}

// AddAs adds a problem that is more or less severe than its kind.
func (r *Report) AddAs(s Severity, k Kind, at Place, try, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{s, k, at, fmt.Sprintf(format, args...), try, time.Time{}})
}

// Skip says that something was not looked at.
func (r *Report) Skip(what, try, format string, args ...any) {
	r.Unchecked = append(r.Unchecked, Unchecked{What: what, Why: fmt.Sprintf(format, args...), Try: try})
}

// Unknown says that something may be a problem, for what it depends on was not read.
func (r *Report) Unknown(what, try, format string, args ...any) {
	r.Unchecked = append(r.Unchecked, Unchecked{what, "unknown: " + fmt.Sprintf(format, args...), try, true})
}

// Sort brings the problems into order: by severity, then by kind, then as they were found.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		x, _ := a.Kind.row()
		y, _ := b.Kind.row()
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(x, y))
	})
}

// Count is how many problems are as severe.
func (r *Report) Count(s Severity) int {
	n := 0
	for i := range r.Problems {
		if r.Problems[i].Severity == s {
			n++
		}
	}
	return n
}
