// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// exam compares the answers of commands in one scene with the model.
type exam struct {
	*console
	rnd    *rand.Rand
	states []*state
	stale  bool
	// engine and lmc are the settings, "" if they were never set.
	engine string
	lmc    int
	// written is the state in the file of the source, with its unreachable nodes, nil for none.
	written *state
	// changes are those of the what-if, routed those at the time of the last route.
	changes, routed []change
	// members holds the end ports of loaded multicast groups, by LID, nil for none.
	members  map[int][]uint64
	compared int
	wrong    []string
}

func (x *exam) contradict(what string) { x.wrong = append(x.wrong, what) }

// state returns the state with a name, or nil.
func (x *exam) state(name string) *state {
	for _, s := range x.states {
		if s.name == name {
			return s
		}
	}
	return nil
}

// title compares the title of the state of an answer.
func (a *answer) title(path string, s *state) {
	inJSON := ""
	if a.o != nil {
		v, _ := a.o.at(path)
		inJSON, _ = v.(string)
	}
	inText, has := a.words[path]
	a.x.compared++
	if has && inText != inJSON || !strings.HasPrefix(inJSON, s.name) ||
		a.x.isStale(s) != strings.Contains(inJSON, "STALE") {
		a.wrong(path, orNone(inText, has), inJSON, s.name)
	}
}

func (x *exam) isStale(s *state) bool { return s.name == "staged" && x.stale }

// succeeds checks that a command did not fail.
func (a *answer) succeeds() {
	a.x.compared++
	if a.err != nil {
		a.wrong("error", a.err, "-", "none")
	}
}

// fails compares the error of a command with a form and the values in its places: names and values in turn.
func (a *answer) fails(form string, places ...any) {
	var m map[string]string
	if a.err != nil {
		m = match(form, a.err.Error())
	}
	a.x.compared++
	if m == nil {
		a.wrong("error", a.err, "-", form)
		return
	}
	for i := 0; i < len(places); i += 2 {
		got, has := m[places[i].(string)]
		if a.x.compared++; has && !sameText(got, places[i+1]) {
			a.wrong(fmt.Sprint("error: ", places[i]), got, "-", places[i+1])
		}
	}
}
