// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strings"
)

// Report says what became of a file when it was applied to a subnet.
type Report struct {
	// Switches and Entries are what was taken.
	Switches, Entries int

	// UnknownSwitches have a table in the file and are not in the subnet; they were skipped.
	UnknownSwitches Finding
	// MissingSwitches are in the subnet and have no table in the file.
	MissingSwitches Finding
	// Repeated are tables that replaced an earlier one of the same switch.
	Repeated Finding
	// Unended are tables without "lids dumped" at their end, as ibroute leaves them when it fails.
	Unended Finding
	// Remapped are LIDs of the file that their port has no more.
	Remapped Finding
	// NoPortGUID are entries without a usable port GUID; they were taken at their LID.
	NoPortGUID Finding
	// UnknownPortGUIDs are not in the subnet; their entries were taken at their LID.
	UnknownPortGUIDs Finding
	// NoLID are ports of the subnet that have no LID; entries for them were skipped.
	NoLID Finding
	// BeyondMaxLID are entries for LIDs above the highest of the subnet; they were skipped.
	BeyondMaxLID Finding
	// Collisions are entries that replaced another one for the same LID.
	Collisions Finding
	// NoSwitch are entries before the first table; they were skipped.
	NoSwitch Finding
	// Multicast are multicast tables in the file; they were skipped.
	Multicast Finding
	// Lost are LIDs whose entry ibroute or dump_fts did not print: they leave out a last LID that is a multiple of 64.
	Lost Finding
	// Private are private tables other than the first of their switch; they were skipped.
	Private Finding
	// Ignored are lines that mean nothing.
	Ignored Finding
}

// maxExamples is how many examples a [Finding] keeps.
const maxExamples = 5

// Finding counts one kind of thing and keeps the first few.
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

// Lines says in a sentence each what was noticed; none if nothing was.
func (r *Report) Lines() []string {
	return findingLines([]findingText{
		{
			&r.UnknownSwitches, "switch of the file is not in the subnet, skipped",
			"switches of the file are not in the subnet, skipped",
		},
		{
			&r.MissingSwitches, "switch of the subnet has no table in the file",
			"switches of the subnet have no table in the file",
		},
		{
			&r.Repeated, "table replaced an earlier one of the same switch",
			"tables replaced earlier ones of the same switch",
		},
		{
			&r.Unended, "table does not end with \"lids dumped\" and may be cut short",
			"tables do not end with \"lids dumped\" and may be cut short",
		},
		{&r.Remapped, "LID moved to where its port is now", "LIDs moved to where their ports are now"},
		{
			&r.NoPortGUID, "entry has no port GUID and stays at its LID",
			"entries have no port GUID and stay at their LID",
		},
		{
			&r.UnknownPortGUIDs, "port GUID is not in the subnet, its entries stay at their LID",
			"port GUIDs are not in the subnet, their entries stay at their LID",
		},
		{
			&r.NoLID, "port of the subnet has no LID, entries for it were skipped",
			"ports of the subnet have no LID, entries for them were skipped",
		},
		{
			&r.BeyondMaxLID, "entry is for a LID above the highest of the subnet, skipped",
			"entries are for LIDs above the highest of the subnet, skipped",
		},
		{&r.Collisions, "entry replaced another one for the same LID", "entries replaced others for the same LID"},
		{&r.NoSwitch, "entry stands before the first table, skipped", "entries stand before the first table, skipped"},
		{&r.Multicast, "multicast table was skipped", "multicast tables were skipped"},
		{
			&r.Lost, "last LID was not printed by ibroute or dump_fts, which leave out multiples of 64",
			"last LIDs were not printed by ibroute or dump_fts, which leave out multiples of 64",
		},
		{
			&r.Private, "private table was skipped, of those of a switch table 0 was taken",
			"private tables were skipped, of those of a switch table 0 was taken",
		},
		{&r.Ignored, "line means nothing", "lines mean nothing"},
	})
}

type findingText struct {
	f        *Finding
	one, few string
}

func findingLines(texts []findingText) []string {
	var lines []string
	for _, k := range texts {
		if k.f.Count == 0 {
			continue
		}
		what := k.few
		if k.f.Count == 1 {
			what = k.one
		}
		line := fmt.Sprintf("%d %s: %s", k.f.Count, what, strings.Join(k.f.Examples, "; "))
		if k.f.Count > len(k.f.Examples) {
			line += "; ..."
		}
		lines = append(lines, line)
	}
	return lines
}
