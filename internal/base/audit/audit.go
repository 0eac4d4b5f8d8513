// SPDX-License-Identifier: Apache-2.0

// Package audit tells the machine's log who wrote what to a subnet, or was refused: journald by its socket, else
// syslog.
package audit

import (
	"errors"
	"fmt"
	"log/syslog"
	"net"
	"os"
	"os/user"
	"strings"
	"time"
)

// Log is where records go. The zero value is nowhere.
type Log struct {
	Journal string // the socket of journald
	Syslog  string // the socket of syslog
}

// Machine returns the log of this machine. Path says where a place of it is.
func Machine(path func(place string) string) Log {
	return Log{Journal: path("/run/systemd/journal/socket"), Syslog: path("/dev/log")}
}

// Record is one write, or a refused one. Its texts are escaped.
type Record struct {
	Action string // "commit", "write on"
	Subnet string
	Before string // a hash of the forwarding tables, "" where they were not read
	After  string
	Result string // "done", or why not
	Failed bool
}

// patience is how long a full socket may hold up a writer.
const patience = time.Second

// Write sends a record. The error says why it is in neither log.
func (l Log) Write(r *Record) error {
	fields := append([][2]string{
		{"IBCONSOLE_ACTION", r.Action}, {"IBCONSOLE_SUBNET", r.Subnet}, {"IBCONSOLE_BEFORE", r.Before},
		{"IBCONSOLE_AFTER", r.After}, {"IBCONSOLE_RESULT", r.Result},
	}, who()...)
	var text strings.Builder
	for i, f := range fields {
		if f[1] == "" {
			continue
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		fmt.Fprintf(&text, "%s=%q", strings.ToLower(strings.TrimPrefix(f[0], "IBCONSOLE_")), f[1])
	}
	priority := syslog.LOG_NOTICE
	if r.Failed {
		priority = syslog.LOG_WARNING
	}
	err := l.journal(append(fields, [][2]string{
		{"MESSAGE", text.String()}, {"PRIORITY", fmt.Sprint(int(priority))}, {"SYSLOG_IDENTIFIER", identifier},
	}...))
	if err == nil {
		return nil
	}
	if serr := l.syslog(priority, text.String()); serr != nil {
		return errors.Join(err, serr)
	}
	return nil
}

const identifier = "ibconsole"

// who returns the user of this process, and the one who became it by sudo.
func who() [][2]string {
	out := [][2]string{{"IBCONSOLE_UID", fmt.Sprint(os.Getuid())}}
	if u, err := user.Current(); err == nil {
		out = append(out, [2]string{"IBCONSOLE_LOGIN", u.Username})
	}
	return append(out, [2]string{"IBCONSOLE_SUDO_USER", os.Getenv("SUDO_USER")})
}

// journal sends fields as systemd's JOURNAL_NATIVE_PROTOCOL has it: a line each.
func (l Log) journal(fields [][2]string) error {
	var b strings.Builder
	for _, f := range fields {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s=%s\n", f[0], strings.Map(oneLine, f[1]))
		}
	}
	return send(l.Journal, b.String())
}

func (l Log) syslog(p syslog.Priority, text string) error {
	return send(l.Syslog, fmt.Sprintf("<%d>%s %s[%d]: %s", int(syslog.LOG_AUTHPRIV|p), time.Now().Format(time.Stamp),
		identifier, os.Getpid(), strings.Map(oneLine, text)))
}

func oneLine(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

func send(socket, text string) error {
	if socket == "" {
		return errors.New("no socket")
	}
	c, err := net.Dial("unixgram", socket)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = c.Write([]byte(text))
	return err
}
