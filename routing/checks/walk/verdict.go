// SPDX-License-Identifier: Apache-2.0

package walk

import "fmt"

// Verdict says how a path ends.
type Verdict uint8

// The ways to end.
const (
	// Delivered: the path ends at the port that owns the destination LID.
	Delivered Verdict = iota + 1
	// Loop: the path comes back to a switch that it passed before.
	Loop
	// DeadEnd: a switch, or the source, has no path on; [Cause] says why.
	DeadEnd
	// Misdelivered: the path ends at an end port that does not own the LID.
	Misdelivered
	// Unknown: the path meets a switch whose table was not read.
	Unknown
	// TooLong: the path is delivered, but over more than [MaxHops] links, further
	// than a directed route leads (IBA 1.2.1, 14.2.2) and ibtracert follows.
	TooLong
)

// MaxHops is the highest number of links of a directed route.
const MaxHops = 63

var verdictNames = [...]string{
	Delivered: "delivered", Loop: "loop", DeadEnd: "dead end",
	Misdelivered: "misdelivered", Unknown: "unknown", TooLong: "too long",
}

// String gives the verdict in lower-case words.
func (v Verdict) String() string {
	if v == 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict %d", uint8(v))
	}
	return verdictNames[v]
}

// Arrives reports whether packets reach the destination: Delivered or TooLong.
func (v Verdict) Arrives() bool { return v == Delivered || v == TooLong }

// Cause says why a dead end is one.
type Cause uint8

// The causes.
const (
	// NoEntry: the table has no entry for the LID, or its top is below it.
	NoEntry Cause = iota + 1
	// NoSuchPort: the entry names a port that the switch does not have.
	NoSuchPort
	// NoLink: the link of the port is down.
	NoLink
	// Unreachable: the source or the destination is separated from the subnet.
	Unreachable
	// NoLID: the source or the destination has none.
	NoLID
)

var causeNames = [...]string{
	NoEntry: "no entry", NoSuchPort: "no such port", NoLink: "no link", Unreachable: "unreachable", NoLID: "no LID",
}

// String gives the cause in lower-case words, "" where there is none.
func (c Cause) String() string {
	if int(c) >= len(causeNames) {
		return fmt.Sprintf("cause %d", uint8(c))
	}
	return causeNames[c]
}
