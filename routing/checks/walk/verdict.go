// SPDX-License-Identifier: Apache-2.0

package walk

import "fmt"

// Verdict is the kind of end of a path.
type Verdict uint8

// The verdicts.
const (
	// Delivered: the path ends at the port that owns the destination LID.
	Delivered Verdict = iota + 1
	// Loop: the path returns to a switch.
	Loop
	// DeadEnd: a switch, or the source, has no onward path. [Cause] is the reason.
	DeadEnd
	// Misdelivered: the path ends at an end port that does not own the LID.
	Misdelivered
	// Unknown: the path uses a switch whose table was not read.
	Unknown
	// TooLong: the path is delivered, but over more than [MaxHops] links. A directed route has at most this many links
	// (IBA 1.2.1, 14.2.2), and ibtracert follows no more.
	TooLong
)

// MaxHops is the maximum number of links of a directed route.
const MaxHops = 63

var verdictNames = [...]string{
	Delivered: "delivered", Loop: "loop", DeadEnd: "dead end",
	Misdelivered: "misdelivered", Unknown: "unknown", TooLong: "too long",
}

// String returns the verdict in lower-case words.
func (v Verdict) String() string {
	if v == 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict %d", uint8(v))
	}
	return verdictNames[v]
}

// Arrives reports whether packets reach the destination: Delivered or TooLong.
func (v Verdict) Arrives() bool { return v == Delivered || v == TooLong }

// Cause is the reason of a dead end.
type Cause uint8

// The causes.
const (
	// NoEntry: the table has no entry for the LID, or its LinearFDBTop is lower.
	NoEntry Cause = iota + 1
	// NoSuchPort: the entry names a port that the switch does not have.
	NoSuchPort
	// NoLink: the link of the port is down.
	NoLink
	// Unreachable: the source or the destination is separated from the subnet.
	Unreachable
	// NoLID: the source or the destination has no LID.
	NoLID
)

var causeNames = [...]string{
	NoEntry: "no entry", NoSuchPort: "no such port", NoLink: "no link", Unreachable: "unreachable", NoLID: "no LID",
}

// String returns the cause in lower-case words, or "" for no cause.
func (c Cause) String() string {
	if int(c) >= len(causeNames) {
		return fmt.Sprintf("cause %d", uint8(c))
	}
	return causeNames[c]
}
