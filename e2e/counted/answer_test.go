// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// answer is the answer of a command, in text and in JSON, with a record of what was compared with the model.
type answer struct {
	x       *exam
	command string
	*text
	notes   string
	objects []*object
	heads   []*object // of declared answers
	// o is the current object.
	o *object
	// err is the error of the command.
	err error
	// words holds the values in the text, by the paths of the JSON.
	words map[string]string
	// failed is set after a contradiction.
	failed bool
}

// ask runs a command in text and in JSON.
func (x *exam) ask(command string) *answer {
	x.t.Helper()
	out, notes, err := x.run(command, false)
	inJSON, _, jsonErr := x.run(command, true)
	a := &answer{x: x, command: command, text: readText(out), notes: notes, objects: readObjects(x.t, command, inJSON),
		err: err, words: map[string]string{}}
	a.end()
	if len(a.objects) > 0 {
		a.o = a.objects[0]
	}
	if fmt.Sprint(err) != fmt.Sprint(jsonErr) {
		a.wrong("error", err, jsonErr, "the same in text and in JSON")
	}
	return a
}

// end removes the object that holds the number of rows of a list.
func (a *answer) end() {
	n := len(a.objects) - 1
	if n < 0 {
		return
	}
	if kind, _ := a.objects[n].at("kind"); kind != "end" {
		delete(a.objects[n].seen, "kind")
		return
	}
	rows, _ := a.objects[n].at("rows")
	heads := 0
	for _, o := range a.objects[:n] {
		if kind, _ := o.value["kind"].(string); kind == "answer" {
			heads++
		}
	}
	if a.x.compared++; fmt.Sprint(rows) != fmt.Sprint(n-heads) {
		a.wrong("rows", "-", rows, n)
	}
	a.objects = a.objects[:n]
}

// declared compares the head of a declared answer: its title, state and unread parts. The remaining objects are the
// rows of the streamed table, whose kind is its key. If table is "", the head continues.
func (a *answer) declared(title, table string, s *state) {
	if a.o == nil || table == "" && len(a.objects) > 1 {
		a.wrong("head", "-", "none", a.command)
		return
	}
	a.mustLine(title)
	a.basis(s, 0)
	head := a.o
	for _, o := range a.rows(table) {
		a.take(o)
		a.streamed(table)
	}
	a.heads, a.objects = append(a.heads, head), a.objects[1:]
	if table == "" {
		a.take(head)
	}
}

// withArguments are the commands of one word that have arguments.
var withArguments = []string{"diff", "hosts", "trace"}

// name returns the command without its options, and without arguments if it is the command of the first object.
func (a *answer) name() string {
	command, _, _ := strings.Cut(a.command, " of=")
	if first, _ := a.objects[0].value["command"].(string); (len(strings.Fields(first)) > 1 ||
		slices.Contains(withArguments, first)) && strings.HasPrefix(command, first+" ") {
		return first
	}
	return command
}

// basis compares the same as [answer.stated], and the warnings.
func (a *answer) basis(s *state, unread int) {
	a.stated(s, unread)
	for i := range a.o.length("of.warnings") {
		warning, _ := a.o.at(fmt.Sprint("of.warnings.", i))
		a.row("warning:", warning)
	}
}

// stated compares the state of a declared answer, and how much of it was not read.
func (a *answer) stated(s *state, unread int) {
	a.title("of.title", s)
	a.figure("command", a.name())
	a.figure("kind", "answer")
	a.figure("schema", 2)
	a.figure("answer", 1)
	a.figure("of.state", s.name)
	a.figure("of.stale", a.x.isStale(s))
	a.figure("of.source", a.x.source)
	a.figure("of.unread.count", unread)
	a.ignore("of.as_of", "of.engine", "of.estimate", "of.written")
	if unread == 0 {
		a.ignore("of.unread.causes")
	}
}

// streamed compares the common values of all rows of a streamed table.
func (a *answer) streamed(table string) {
	a.figure("command", a.name())
	a.figure("answer", 1)
	a.figure("kind", table)
}

// rows returns the objects of a streamed table.
func (a *answer) rows(table string) (rows []*object) {
	for _, o := range a.objects {
		if kind, _ := o.value["kind"].(string); kind == table {
			rows = append(rows, o)
		}
	}
	return rows
}

// judged compares a declared answer of a check: what was not read, and that its verdict is that of the command, with
// the same text.
func (a *answer) judged(s *state, verdict string) {
	a.read(s)
	a.figure("verdict", verdict)
	found := ""
	if a.err != nil {
		_, found, _ = strings.Cut(a.err.Error(), ": ")
	}
	a.figure("found", found)
}

// read compares the basis of an answer about tables: the switches with unread tables.
func (a *answer) read(s *state) {
	names := s.unreadTables()
	if a.basis(s, len(names)); len(names) > 0 {
		a.mustLine("  not read: {of.unread.count#} forwarding table(s): {|.*}")
		a.unread(names)
	}
}

// unread compares the switches with unread tables.
func (a *answer) unread(names []string) {
	if a.figure("of.unread.count", len(names)); len(names) > 0 {
		a.figure("of.unread.causes.0.what", "forwarding table")
		a.figure("of.unread.causes.0.why", "")
		a.figure("of.unread.causes.0.count", len(names))
		var got []string
		for i := range a.o.length("of.unread.causes.0.at") {
			at := fmt.Sprintf("of.unread.causes.0.at.%d", i)
			guid, _ := a.o.at(at + ".guid")
			name, _ := a.o.at(at + ".name")
			got = append(got, fmt.Sprint(guid, " ", name))
		}
		a.same("of.unread", got, names[:min(len(names), 20)])
	}
}

// placed returns the text of a place in JSON, NAME/PORT, after comparing GUID, number and LID with a port of the state.
func (a *answer) placed(path string, s *state) string {
	text, _ := a.o.at(path + ".guid")
	guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
	if s.nodeOf(guid) == nil {
		a.wrong(path, "-", text, "no such node")
		return ""
	}
	num := a.intAt(path + ".port")
	a.place(path, s, guid, num)
	return s.plugName(plug{guid, num})
}

// place compares a node or port. It has the GUID of the node, and a port number below 0 for the node itself. The LID of
// a host is not that of any of its ports.
func (a *answer) place(path string, s *state, guid uint64, port int) {
	n := s.nodeOf(guid)
	a.figure(path+".name", n.name)
	a.figure(path+".guid", guidText(guid))
	if port >= 0 {
		a.figure(path+".port", port)
	}
	switch {
	case n.isSwitch():
		a.figure(path+".lid", s.lidOf(n))
	case port >= 0:
		a.figure(path+".lid", s.lidAt(plug{guid, port}))
	}
}

// line finds the line of a form in the text, and records the values in its places as figures of the text.
func (a *answer) line(form string) bool {
	m := a.next(form)
	maps.Copy(a.words, m)
	return m != nil
}

// mustLine is line for a line that must be there.
func (a *answer) mustLine(form string) {
	if !a.line(form) {
		a.wrong("a line of the text", "none", "-", form)
	}
}

// figure compares the value at a path, in text and JSON, with the model. The text need not have it.
func (a *answer) figure(path string, want any) {
	inText, hasText := a.words[path]
	var inJSON any
	hasJSON := false
	if a.o != nil {
		inJSON, hasJSON = a.o.at(path)
	}
	if hasText {
		a.x.compared++
	}
	if hasJSON {
		a.x.compared++
	}
	if hasText && !sameText(inText, want) || hasJSON && !sameJSON(inJSON, want) || !hasJSON && !isAbsent(want) {
		a.wrong(path, orNone(inText, hasText), orNone(inJSON, hasJSON), want)
	}
}

// said compares a figure that only the text has.
func (a *answer) said(key string, want any) {
	got, has := a.words[key]
	a.x.compared++
	if !has || !sameText(got, want) {
		a.wrong(key, orNone(got, has), "-", want)
	}
}

func orNone(v any, has bool) any {
	if !has {
		return "none"
	}
	return v
}

// isAbsent reports whether JSON may omit a value.
func isAbsent(want any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case int:
		return w == 0
	case float64:
		return w == 0
	case bool:
		return !w
	case string:
		return w == ""
	}
	return false
}

// sameText compares a figure of the text with the model, a decimal number with the same number of decimals.
func sameText(got string, want any) bool {
	switch w := want.(type) {
	case int:
		got = strings.ReplaceAll(got, ",", "")
		n, err := strconv.Atoi(got)
		return err == nil && n == w
	case float64:
		f, err := strconv.ParseFloat(got, 64)
		_, decimals, _ := strings.Cut(got, ".")
		return err == nil && math.Abs(f-w) <= 0.5*math.Pow10(-len(decimals))+1e-9
	}
	return got == fmt.Sprint(want)
}

// tellsApart matches the GUID that the text adds to a name that several nodes have. JSON has the GUID as a value of its
// own.
var tellsApart = regexp.MustCompile(` \(0x[0-9a-f]{16}\)`)

func sameJSON(got, want any) bool {
	switch w := want.(type) {
	case string:
		return got == w || got == tellsApart.ReplaceAllString(w, "")
	case int:
		return fmt.Sprint(got) == fmt.Sprint(w)
	case float64:
		n, ok := got.(json.Number)
		if !ok {
			return false
		}
		f, err := n.Float64()
		return err == nil && math.Abs(f-w) <= 1e-6*max(1, math.Abs(w))
	case []string:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(list, w, func(a any, b string) bool { return a == b })
	}
	return got == want
}

// wrong records a contradiction.
func (a *answer) wrong(figure string, inText, inJSON, want any) {
	a.failed = true
	a.x.contradict(fmt.Sprintf("%s: %s: model %v, text %v, JSON %v", a.command, figure, want, inText, inJSON))
}

// ignore marks leaves of the JSON that are no figures, such as times.
func (a *answer) ignore(paths ...string) {
	for _, path := range paths {
		if a.o != nil {
			a.o.at(path)
		}
	}
}

// done fails if text or JSON have something that was not compared.
func (a *answer) done() {
	for _, line := range a.rest() {
		a.wrong("a line that is not compared", line, "-", "-")
	}
	for _, o := range slices.Concat(a.heads, a.objects) {
		paths := o.unseen()
		slices.Sort(paths)
		for _, path := range paths {
			v, _ := o.at(path)
			a.wrong("not compared: "+path, "-", v, "-")
		}
	}
}

// take continues with another object of the answer.
func (a *answer) take(o *object) { a.o, a.words = o, map[string]string{} }

// floatOf returns a number of the JSON.
func floatOf(v any) float64 {
	n, ok := v.(json.Number)
	if !ok {
		return math.NaN()
	}
	f, err := n.Float64()
	if err != nil {
		return math.NaN()
	}
	return f
}
