// SPDX-License-Identifier: Apache-2.0

// Package problems lists what is wrong with a subnet, without following packets. Problems are links slower than
// possible, error counters, unanswered requests, duplicates, differences from a baseline, and others.
//
// Every problem follows from the given data. Checks that lacked data are listed in [Report].Unchecked.
package problems

import (
	"cmp"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Severity is the severity of a problem.
type Severity uint8

// The severities, the worst first.
const (
	Error   Severity = iota // packets are lost, or will be
	Warning                 // reduces bandwidth or safety
	Note                    // worth knowing
)

func (s Severity) String() string { return severities[min(s, Note)] }

var severities = [...]string{"error", "warning", "note"}

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Kind names a kind of problem in two or three words.
type Kind string

// The kinds, each with its row in [table].
const (
	NotRead           Kind = "not read"
	CommitInterrupted Kind = "interrupted commit"
	DuplicateGUID     Kind = "duplicate GUID"
	DuplicateLID      Kind = "duplicate LID"
	Disconnected      Kind = "connection lost"
	NoMaster          Kind = "no subnet manager"
	TwoMasters        Kind = "two masters"
	SilentManager     Kind = "silent manager"
	SweepLoop         Kind = "heavy sweep loop"
	TrapStorm         Kind = "trap storm"
	PathsLost         Kind = "paths lost"
	Loops             Kind = "routes loop"
	Misdelivered      Kind = "wrong port"
	TooLong           Kind = "path too long"
	CreditLoop        Kind = "credit loop"
	Silent            Kind = "no answer"
	TableUnread       Kind = "table not read"
	Alone             Kind = "no link"
	NoLID             Kind = "no LID"
	Drifted           Kind = "routes drifted"
	TablesDiffer      Kind = "different routes"
	Missing           Kind = "missing"
	LinkMissing       Kind = "link missing"
	Recabled          Kind = "re-cabled"
	Flapping          Kind = "flapping"
	Narrow            Kind = "narrow link"
	Slow              Kind = "slow link"
	Rising            Kind = "errors rising"
	NotActive         Kind = "link not active"
	FECMismatch       Kind = "FEC mismatch"
	BitErrors         Kind = "bit errors"
	Hot               Kind = "hot cable"
	HotNode           Kind = "hot node"
	SupplyFault       Kind = "power supply"
	FanFault          Kind = "fan"
	BadPart           Kind = "cable part with errors"
	Errors            Kind = "errors counted"
	Limited           Kind = "link limited"
	DeadInGroup       Kind = "dead port in group"
	ThinGroup         Kind = "thin group"
	StaticOutside     Kind = "static port outside group"
	AdaptiveOff       Kind = "adaptive routing off"
	Asymmetric        Kind = "asymmetric cabling"
	FirmwareDiffers   Kind = "firmware differs"
	GenericName       Kind = "generic description"
	Changed           Kind = "changed"
	Added             Kind = "new"
	Noticed           Kind = "noticed"
	Alert             Kind = "alert" // of a recorder; see [AlertKind]
)

// table lists the kinds in the order of the report, with their default severities.
var table = []struct {
	Kind
	Severity
}{
	{NotRead, Error},
	{CommitInterrupted, Error},
	{DuplicateGUID, Error},
	{DuplicateLID, Error},
	{Disconnected, Error},
	{NoMaster, Error},
	{TwoMasters, Error},
	{SilentManager, Warning},
	{SweepLoop, Warning},
	{TrapStorm, Warning},
	{PathsLost, Error},
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
	{FECMismatch, Error},
	{BitErrors, Warning},
	{Hot, Warning},
	{HotNode, Warning},
	{SupplyFault, Warning},
	{FanFault, Warning},
	{BadPart, Warning},
	{Errors, Warning},
	{Limited, Warning},
	{Alert, Warning},
	{DeadInGroup, Warning},
	{ThinGroup, Warning},
	{StaticOutside, Warning},
	{AdaptiveOff, Warning},
	{Asymmetric, Note},
	{FirmwareDiffers, Note},
	{GenericName, Note},
	{Changed, Note},
	{Added, Note},
	{Noticed, Note},
}

// AlertKind returns the kind of the alerts about a counter, or about a fault of the recorder.
func AlertKind(what string) Kind { return Alert + ": " + Kind(what) }

// IsAlert reports whether the kind is one of [AlertKind].
func (k Kind) IsAlert() bool { return k.base() == Alert }

// base returns the kind without the part that [AlertKind] adds.
func (k Kind) base() Kind {
	kind, _, _ := strings.Cut(string(k), ": ")
	return Kind(kind)
}

// row returns the rank of a kind in the report, and its severity. Unknown kinds come last and are notes.
func (k Kind) row() (rank int, s Severity) {
	for i := range table {
		if table[i].Kind == k.base() {
			return i, table[i].Severity
		}
	}
	return len(table), Note
}

// Place is the place of a problem: a node, or a port of the node if Port is not -1.
type Place struct {
	GUID uint64
	Port int
	Name string // escaped
}

// WholeSubnet is the place of a problem that concerns the whole subnet.
var WholeSubnet = Place{Port: -1}

// In returns the node and the port in a fabric. They are None if the fabric does not have them. The port is also None
// if the place is a node.
func (p Place) In(f *fabric.Fabric) (node fabric.NodeIndex, port fabric.PortIndex) {
	node = f.NodeByGUID(p.GUID)
	if node == fabric.None || p.Port < 0 {
		return node, fabric.None
	}
	return node, f.PortAt(node, p.Port)
}

// MarshalJSON returns an object with name, GUID and port. Missing values are omitted.
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

// PlaceOfNode returns the place of a node.
func PlaceOfNode(f *fabric.Fabric, node fabric.NodeIndex) Place {
	return Place{f.Nodes[node].GUID, -1, f.NodeName(node)}
}

// PlaceOfPort returns the place of a port.
func PlaceOfPort(f *fabric.Fabric, port fabric.PortIndex) Place {
	p := &f.Ports[port]
	return Place{f.Nodes[p.Node].GUID, int(p.Num), f.PortName(port)}
}

// Problem is one problem.
type Problem struct {
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	At       Place    `json:"at"`
	// What is a sentence without a full stop, with escaped names. Try is a hint for the user.
	What string `json:"what"`
	Try  string `json:"try"`
	// Since is when it began, zero if unknown.
	Since time.Time `json:"since,omitzero"`
}

// ID returns a short identifier that stays the same while the problem lasts, and that the same problem has again when
// it returns. It depends on the kind and the place, and on the name of a place without a GUID. Only problems of the
// kinds in [textual] have no object but their text. The place of a problem of a kind in [collective] is an example.
func (p *Problem) ID() string {
	h, at := fnv.New64a(), p.At
	if slices.Contains(collective, p.Kind) {
		at = WholeSubnet
	}
	_, _ = fmt.Fprintf(h, "%s|%x|%d", p.Kind, at.GUID, at.Port)
	if at.GUID == 0 {
		_, _ = io.WriteString(h, at.Name)
		if slices.Contains(textual, p.Kind) {
			words := slices.DeleteFunc(strings.Fields(p.What), func(word string) bool {
				return strings.Trim(word, "0123456789.,:;") == ""
			})
			_, _ = io.WriteString(h, strings.Join(words, " "))
		}
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil))[:idLength])
}

// collective lists the kinds of which a subnet has at most one problem.
var collective = []Kind{PathsLost, Loops, Misdelivered, TooLong, CreditLoop, GenericName}

// windowed lists the kinds whose problems count events of the last minutes, in addition to alerts.
var windowed = []Kind{Rising, SweepLoop, TrapStorm}

// HasFigures reports whether the figures in the description change as long as the problem lasts.
func (k Kind) HasFigures() bool { return k.IsAlert() || slices.Contains(windowed, k) }

// SameButFigures reports whether two descriptions differ only in figures, such as "+5" and "1m0s".
func SameButFigures(a, b string) bool {
	words := func(text string) []string {
		return slices.DeleteFunc(strings.Fields(text), func(word string) bool {
			word = strings.TrimLeft(word, "+-(")
			return word != "" && word[0] >= '0' && word[0] <= '9'
		})
	}
	return slices.Equal(words(a), words(b))
}

// textual lists the kinds whose problems of the whole subnet differ by their text, without counts.
var textual = []Kind{Noticed, Asymmetric}

// idLength is the length of an ID: 35 bits, so that two of 2,000 problems share an ID once in 17,000 subnets.
const idLength = 7

// Unchecked describes a check that was not possible.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
	// Try is a command after which the check is possible, "" if there is none.
	Try string `json:"try,omitempty"`
	// Unknown means that the check was made, but the result depends on data that was not read.
	Unknown bool `json:"unknown,omitempty"`
}

// Acknowledged is a problem that somebody silenced until a time.
type Acknowledged struct {
	Problem
	Who, Reason string
	Until       time.Time
}

// Report lists problems, the most severe first, and checks that were not possible.
type Report struct {
	Problems     []Problem   `json:"problems"`
	Unchecked    []Unchecked `json:"unchecked"`
	Acknowledged []Acknowledged
}

// Acknowledge moves the problems for which of returns an acknowledgement to Acknowledged. of returns the
// acknowledgement of an ID without its problem.
func (r *Report) Acknowledge(of func(id string) (Acknowledged, bool)) {
	r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool {
		a, silenced := of(p.ID())
		if silenced {
			a.Problem = p
			r.Acknowledged = append(r.Acknowledged, a)
		}
		return silenced
	})
}

// Add adds a problem of kind k with the default severity of the kind.
func (r *Report) Add(k Kind, at Place, try, format string, args ...any) {
	_, s := k.row()
	r.AddAs(s, k, at, try, format, args...)
}

// AddAs adds a problem with a severity.
func (r *Report) AddAs(s Severity, k Kind, at Place, try, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{s, k, at, fmt.Sprintf(format, args...), try, time.Time{}})
}

// Skip adds a check that was not made.
func (r *Report) Skip(what, try, format string, args ...any) {
	r.Unchecked = append(r.Unchecked, Unchecked{What: what, Why: fmt.Sprintf(format, args...), Try: try})
}

// Unknown adds a check whose result depends on data that was not read.
func (r *Report) Unknown(what, try, format string, args ...any) {
	r.Unchecked = append(r.Unchecked, Unchecked{what, "unknown: " + fmt.Sprintf(format, args...), try, true})
}

// Sort sorts the problems by severity, then by kind. Problems of equal severity and kind keep their order.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		x, _ := a.Kind.row()
		y, _ := b.Kind.row()
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(x, y))
	})
}

// Count returns the number of problems with this severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for i := range r.Problems {
		if r.Problems[i].Severity == s {
			n++
		}
	}
	return n
}

// Answers reports ports that did not answer a sweep, and GUIDs and LIDs that are used twice.
func (r *Report) Answers(unanswered []sweep.Unanswered, duplicates []sweep.Duplicate) {
	for _, h := range unanswered {
		at := Place{h.GUID, h.Port, h.Node}
		if h.Port >= 0 {
			at.Name = fmt.Sprintf("%s/%d", h.Node, h.Port)
		}
		try := "is it up, does its firmware run, does the M_Key match? sweep again; show targets"
		if errors.Is(h.Err, mad.ErrHops) {
			try = fmt.Sprintf("a directed route from here ends after %d links: run ibconsole on a nearer host",
				mad.MaxHops)
		}
		r.Add(Silent, at, try, "%v", h)
	}
	reported := map[string]bool{}
	for _, d := range duplicates {
		at := Place{d.GUID, d.Port, fmt.Sprintf("%s/%d", d.Node, d.Port)}
		kind, try := DuplicateGUID, "one of the two needs another GUID: its firmware was copied (mlxfwmanager, flint)"
		if d.Kind == sweep.DuplicateLID {
			kind, try = DuplicateLID, "restart the subnet manager, or stop one of two: show sms"
		}
		key := fmt.Sprintf("%s %d %s", d.Kind, d.Value, at.Name)
		if !reported[key] {
			reported[key] = true
			r.Add(kind, at, try, "%s", d.Text)
		}
	}
}

// Manager is a subnet manager.
type Manager struct {
	GUID  uint64 `json:"guid"`  // of the port
	Port  string `json:"port"`  // the port's name
	State string `json:"state"` // "master", "standby", "silent"
}

// Managers reports if the subnet has no master subnet manager, or more than one. A subnet manager in state Discovering
// is about to become master.
func (r *Report) Managers(f *fabric.Fabric, seen []Manager) {
	place := func(m Manager) Place {
		if p := f.PortByGUID(m.GUID); p != fabric.None {
			return PlaceOfPort(f, p)
		}
		return Place{Port: -1, Name: m.Port}
	}
	var masters []Manager
	for _, m := range seen {
		switch m.State {
		case "master", "discovering":
			masters = append(masters, m)
		case "silent":
			r.Add(SilentManager, place(m), "is the process still running? opensm -c, systemctl status opensm",
				"%s reports a subnet manager that does not respond", m.Port)
		}
	}
	if len(masters) == 0 {
		r.Add(NoMaster, WholeSubnet, "start one: systemctl start opensm; show sms",
			"no master subnet manager: link failures are not repaired")
	}
	masters = slices.DeleteFunc(masters, func(m Manager) bool { return m.State != "master" })
	if len(masters) > 1 {
		var names []string
		for _, m := range masters {
			names = append(names, m.Port)
		}
		r.Add(TwoMasters, place(masters[1]), "stop all but one; their priorities and M_Keys: show sms",
			"%s all report that they are master", strings.Join(names, " and "))
	}
}

// Unread reports the parts of a file that could not be read.
func (r *Report) Unread(l *unread.List) {
	for _, f := range l.Findings {
		at := Place{GUID: f.Node, Port: f.Port}
		if f.Node == 0 {
			at.Name = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		kind, try := NotRead, "correct the line, or write the file again"
		switch f.Kind {
		case unread.Truncated:
			try = "copy the file again, or write it again"
		case unread.GUID:
			kind, try = DuplicateGUID, "is a node in the file twice? Otherwise one of the two needs another GUID: its "+
				"firmware was copied (mlxfwmanager, flint)"
		case unread.LID:
			kind, try = DuplicateLID, "was the file written in one moment? Then restart the subnet manager, or stop "+
				"one of two"
		}
		r.Add(kind, at, try, "%v", f)
	}
	if more := l.Count - len(l.Findings); more > 0 {
		r.Add(NotRead, WholeSubnet, "correct these first; strict=yes stops at the first", "%s could not be read",
			prose.Count(more, "more thing"))
	}
}

// Alone reports nodes without a link. O(ports).
func (r *Report) Alone(f *fabric.Fabric) {
	for i := range f.NumNodes() {
		linked := false
		for p := range f.Nodes[i].Ports() {
			linked = linked || f.Ports[p].Linked()
		}
		if !linked {
			r.Add(Alone, PlaceOfNode(f, i), "is it cabled and up? ibstat there; show ports "+places.HintNode(f, i),
				"%s has no link", f.NodeName(i))
		}
	}
}
