// SPDX-License-Identifier: Apache-2.0

// Package osmlog reads the log of OpenSM, opensm.log, line by line.
//
// A line is "Mon DD HH:MM:SS uuuuuu [THREAD] 0xLL -> TEXT", without a year. LL is the level: 01 error, 02 information,
// 04 verbose, 80 system. The marks of sweeps and their causes are verbose, and OpenSM does not write verbose lines by
// default. So a sweep that is not in the log may have happened. A mark in a box of stars follows its line, without a
// prefix.
package osmlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/plain"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Started       Kind = "start"
	Ended         Kind = "end"
	HeavySweep    Kind = "heavy sweep"
	HeavyDone     Kind = "heavy sweep done"
	LightSweep    Kind = "light sweep"
	LightDone     Kind = "light sweep done"
	Rerouted      Kind = "reroute"
	RerouteFailed Kind = "reroute failed"
	SubnetUp      Kind = "subnet up"
	NotUp         Kind = "subnet not up"
	State         Kind = "state"
	Handover      Kind = "handover"
	OtherMaster   Kind = "other master"
	OtherKey      Kind = "other SM_Key"
	Trap          Kind = "trap"
	Repeated      Kind = "repeated trap"
	Unhealthy     Kind = "unhealthy port"
	Cause         Kind = "cause" // of the next heavy sweep
	Joined        Kind = "port discovered"
	Left          Kind = "port removed"
	SMPort        Kind = "SM port"
	Fault         Kind = "error"
)

// The levels of lines.
const (
	LevelError   = 0x01
	LevelVerbose = 0x04
)

// Event is an event in the log.
type Event struct {
	When  time.Time
	Kind  Kind
	Level uint8
	Text  string // the text of the line, escaped and shortened
	// State is the new state of the subnet manager, for [State]: "MASTER", for example.
	State string
	// GUID is that of the port or the other subnet manager that the line names, or 0.
	GUID uint64
	// Trap is the number of the trap, 0 for a vendor's notice. LID is that of the sender, and Port the number of the
	// port, or 0 if the line has none.
	Trap int
	LID  uint16
	Port int
	// Count is the number of repetitions, for [Repeated].
	Count int
	// Code is the function and the code of an error, such as "osm_trap_rcv ERR 3804".
	Code string
}

// Parser reads lines. The zero value is ready for use.
type Parser struct {
	// Near returns a time near the time of the lines. The year and the offset of a line are those with which its time
	// is nearest. It is [time.Now] if nil.
	Near func() time.Time

	last    time.Time // of the last line with a prefix
	lastAt  uint8     // its level
	mask    int       // the levels that OpenSM writes, as its first line states them
	verbose bool      // a verbose line was read
}

// Verbose reports whether OpenSM writes verbose lines, and whether this is known. It is known from the level in
// OpenSM's first line, or from a line with the verbose level.
func (p *Parser) Verbose() (written, known bool) {
	return p.verbose || p.mask&LevelVerbose != 0, p.verbose || p.mask != 0
}

// At returns the time of the last line with a time, zero if there was none.
func (p *Parser) At() time.Time { return p.last }

// maxLine is the maximum length of a line. The rest of a longer line is a line of its own.
const maxLine = 64 << 10

// Lines calls the function take with each line, without its end, until the end or an error.
func Lines(r io.Reader, take func(line string) error) error {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := b.ReadSlice('\n')
		if len(line) > 0 {
			if err := take(strings.TrimSuffix(string(line), "\n")); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// maxText is the maximum length of a text, in bytes.
const maxText = 300

var prefix = regexp.MustCompile(`^([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{1,6}) \[[0-9A-Fa-f]+\] ` +
	`0x([0-9A-Fa-f]{1,2}) -> (.*)$`)

var function = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*: `)

// Line reads a line without its end. It returns the event in the line, and whether there is one.
func (p *Parser) Line(line string) (Event, bool) {
	line = strings.TrimSuffix(line, "\r")
	m := prefix.FindStringSubmatch(line)
	if m == nil {
		return p.box(line)
	}
	when, ok := p.time(m[1:7])
	if !ok {
		return Event{}, false
	}
	level, _ := strconv.ParseUint(m[7], 16, 8) // the pattern permits nothing else
	p.last, p.lastAt = when, uint8(level)
	text := m[8]
	if strings.HasPrefix(text, "OpenSM ") && level != 0x80 {
		p.mask = int(level) // OpenSM writes its version first, with its levels in place of the line's own
	}
	if level == LevelVerbose {
		p.verbose = true
	}
	name := function.FindString(text)
	return p.event(strings.TrimSuffix(name, ": "), text[len(name):])
}

// marks are the texts at the beginning of lines, after the name of the function.
var marks = []struct {
	begin string
	kind  Kind
	take  *regexp.Regexp // sets fields by the names of its groups, nil if there are none
}{
	{"SUBNET UP", SubnetUp, nil},
	{"Errors during initialization", NotUp, nil},
	{"Entering ", State, regexp.MustCompile(`^Entering (?P<state>[A-Z-]+) state`)},
	{"Exiting SM", Ended, nil},
	{"SM port is ", SMPort, nil},
	{"Handing over mastership.", Handover, regexp.MustCompile(`master_guid: (?:0x)?(?P<guid>[0-9a-f]{1,16})`)},
	{"Found remote master SM with guid:", OtherMaster, regexp.MustCompile(`guid:0x(?P<guid>[0-9a-f]{1,16})`)},
	{"Received Generic Notice ", Trap,
		regexp.MustCompile(`num:(?P<trap>\d{1,5}) .*from LID:(?P<lid>\d{1,5})(?: Port (?P<port>\d{1,3}))?`)},
	{"Received Vendor Notice ", Trap, regexp.MustCompile(`from LID:(?P<lid>\d{1,5})`)},
	{"Received trap ", Repeated, regexp.MustCompile(`^Received trap (?P<count>\d{1,9}) times consecutively`)},
	{"Marking unhealthy physical port by lid:", Unhealthy,
		regexp.MustCompile(`lid:(?P<lid>\d{1,5}) num:(?P<port>\d{1,3})`)},
	{"Disabling noisy physical port ", Unhealthy, regexp.MustCompile(`lid (?P<lid>\d{1,5}), num (?P<port>\d{1,3})`)},
	{"Forcing heavy sweep. ", Cause, nil},
	{"Forcing new heavy sweep. ", Cause, nil},
	{"Forcing immediate heavy sweep. ", Cause, nil},
	{"Got light sweep response from remote port ", Cause, nil},
	{"Discovered new port with GUID:", Joined, regexp.MustCompile(`GUID:0x(?P<guid>[0-9a-f]{1,16})`)},
	{"Removed port with GUID:", Left, regexp.MustCompile(`GUID:0x(?P<guid>[0-9a-f]{1,16})`)},
}

// boxes are the texts in boxes.
var boxes = map[string]Kind{
	"INITIATING HEAVY SWEEP": HeavySweep, "HEAVY SWEEP COMPLETE": HeavyDone, "INITIATING LIGHT SWEEP": LightSweep,
	"LIGHT SWEEP COMPLETE": LightDone, "REROUTE COMPLETE": Rerouted, "REROUTE FAILED": RerouteFailed,
}

var errorCode = regexp.MustCompile(`^ERR ([0-9A-F]{4})\b`)

// event returns the event of a text that a function wrote.
func (p *Parser) event(function, text string) (Event, bool) {
	e := Event{When: p.last, Level: p.lastAt, Text: shorten(text)}
	if m := errorCode.FindStringSubmatch(text); m != nil {
		e.Kind, e.Code = Fault, strings.TrimSpace(plain.Escape(function)+" ERR "+m[1])
		if m[1] == "2F18" {
			e.Kind = OtherKey
		}
		return e, true
	}
	if strings.HasPrefix(text, "OpenSM ") && p.lastAt == 0x80 {
		e.Kind = Started
		return e, true
	}
	for _, m := range marks {
		if !strings.HasPrefix(text, m.begin) {
			continue
		}
		e.Kind = m.kind
		return e, m.take == nil || e.take(m.take, text)
	}
	return Event{}, false
}

// take sets the fields that the groups of a pattern name. It reports whether the pattern matches and the numbers are in
// range.
func (e *Event) take(pattern *regexp.Regexp, text string) bool {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	for i, name := range pattern.SubexpNames() {
		if name == "" || m[i] == "" {
			continue
		}
		base := 10
		if name == "guid" {
			base = 16
		}
		n, err := strconv.ParseUint(m[i], base, 64)
		if err != nil && name != "state" {
			return false
		}
		switch name {
		case "state":
			e.State = m[i]
		case "guid":
			e.GUID = n
		case "lid":
			if e.LID = uint16(n); n > 0xffff {
				return false
			}
		case "port":
			if e.Port = int(n); n > 255 {
				return false
			}
		case "trap":
			e.Trap = int(n)
		case "count":
			e.Count = int(n)
		}
	}
	return true
}

// box returns the event of a line in a box: a text between stars. Its time is that of the line with a prefix above.
func (p *Parser) box(line string) (Event, bool) {
	text := strings.TrimSpace(line)
	if p.last.IsZero() || len(text) > maxText || !strings.HasPrefix(text, "**") || !strings.HasSuffix(text, "**") {
		return Event{}, false
	}
	text = strings.TrimSpace(strings.Trim(text, "*"))
	kind, ok := boxes[text]
	return Event{When: p.last, Kind: kind, Level: p.lastAt, Text: text}, ok
}

func shorten(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "..."
	}
	return plain.Escape(text)
}

const day = 24 * time.Hour

// time returns the time of a line from month, day, hour, minute, second and microsecond.
func (p *Parser) time(words []string) (time.Time, bool) {
	near := time.Now()
	if p.Near != nil {
		near = p.Near()
	}
	month, err := time.Parse("Jan", words[0])
	if err != nil {
		return time.Time{}, false
	}
	var n [5]int
	for i := range n {
		n[i], _ = strconv.Atoi(words[i+1]) // the pattern permits nothing else
	}
	var best time.Time
	for year := near.Year() - 1; year <= near.Year()+1; year++ {
		t := time.Date(year, month.Month(), n[0], n[1], n[2], n[3], 1000*n[4], near.Location())
		if t.Day() != n[0] || n[1] > 23 || n[2] > 59 || n[3] > 60 {
			continue // such as February 29
		}
		for _, t := range []time.Time{t, t.Add(-time.Hour), t.Add(time.Hour)} { // an hour that the clock repeats
			if t.Hour() == n[1] && t.Day() == n[0] && (best.IsZero() || distance(t, near) < distance(best, near)) {
				best = t
			}
		}
	}
	return best, !best.IsZero()
}

// distance returns how far t is from a reference time, to choose the year of a line. If t is more than a day after the
// reference time, distance adds 1000 days, because a log has no lines from the future.
func distance(t, near time.Time) time.Duration {
	d := near.Sub(t)
	if d < -day {
		return 1000*day - d
	}
	return d.Abs()
}

// String returns the event as a line of text.
func (e Event) String() string {
	return fmt.Sprintf("%s %s: %s", e.When.Format("2006-01-02 15:04:05.000000"), e.Kind, e.Text)
}
