// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"regexp"
	"strings"
)

// Report describes how a file was applied to a subnet.
type Report struct {
	// Switches and Entries are the numbers of tables and entries that were applied.
	Switches, Entries int

	UnknownSwitches  Finding // tables of switches that are not in the subnet; they were skipped
	MissingSwitches  Finding // switches of the subnet without a table in the file
	Repeated         Finding // tables that replaced an earlier one of the same switch
	Unended          Finding // tables without "lids dumped" at their end, as after a failure of ibroute
	Remapped         Finding // LIDs in the file that their port no longer has
	NoPortGUID       Finding // entries without a usable port GUID; they apply to their LID
	UnknownPortGUIDs Finding // port GUIDs that are not in the subnet; their entries apply to their LID
	NoLID            Finding // ports of the subnet without a LID; their entries were skipped
	BeyondMaxLID     Finding // entries for LIDs above the highest of the subnet; they were skipped
	Collisions       Finding // entries that replaced another one for the same LID
	NoSwitch         Finding // entries before the first table; they were skipped
	Multicast        Finding // multicast tables in the file; they were skipped
	Lost             Finding // last LIDs that are multiples of 64, whose entry ibroute and dump_fts do not print
	Private          Finding // private tables except table 0; they were skipped
	Ignored          Finding // lines that were not recognized
}

// maxExamples is the maximum number of examples in a [Finding].
const maxExamples = 5

// Finding counts the occurrences of one fault and holds the first few as examples.
type Finding struct {
	Count int
	// Examples are escaped.
	Examples []string
}

func (f *Finding) add(example func() string) {
	f.Count++
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, example())
	}
}

// Lines returns one sentence for each finding whose count is not 0.
func (r *Report) Lines() []string {
	return findingLines([]findingText{
		{&r.UnknownSwitches, "switch{|es} of the file {is|are} not in the subnet, skipped"},
		{&r.MissingSwitches, "switch{|es} of the subnet {has|have} no table in the file"},
		{&r.Repeated, "table{|s} replaced {an earlier one|earlier ones} of the same switch"},
		{&r.Unended, "table{|s} {does|do} not end with \"lids dumped\" and may be truncated"},
		{&r.Remapped, "LID{|s} moved to where {its port is|their ports are} now"},
		{&r.NoPortGUID, "entr{y has|ies have} no port GUID and stay{s|} at {its|their} LID"},
		{&r.UnknownPortGUIDs, "port GUID{|s} {is|are} not in the subnet, {its|their} entries stay at their LID"},
		{&r.NoLID, "port{|s} of the subnet {has|have} no LID, entries for {it|them} were skipped"},
		{&r.BeyondMaxLID, "entr{y is for a LID|ies are for LIDs} above the highest of the subnet, skipped"},
		{&r.Collisions, "entr{y replaced another one|ies replaced others} for the same LID"},
		{&r.NoSwitch, "entr{y|ies} before the first table {was|were} skipped"},
		{&r.Multicast, "multicast table{|s} {was|were} skipped"},
		{&r.Lost, "last LID{|s} {was|were} not printed by ibroute or dump_fts, which omit multiples of 64"},
		{&r.Private, "private table{|s} {was|were} skipped; table 0 of a switch is used"},
		{&r.Ignored, "line{|s} {was|were} not recognized"},
	})
}

// findingText holds a finding and its sentence. In the sentence, {singular|plural} has the two forms of a word.
type findingText struct {
	finding *Finding
	text    string
}

var alternatives = regexp.MustCompile(`\{([^|]*)\|([^}]*)\}`)

func findingLines(texts []findingText) []string {
	var lines []string
	for _, t := range texts {
		f, form := t.finding, "$2"
		switch f.Count {
		case 0:
			continue
		case 1:
			form = "$1"
		}
		line := fmt.Sprintf("%d %s: %s", f.Count, alternatives.ReplaceAllString(t.text, form),
			strings.Join(f.Examples, "; "))
		if f.Count > len(f.Examples) {
			line += "; ..."
		}
		lines = append(lines, line)
	}
	return lines
}
