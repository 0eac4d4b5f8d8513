// SPDX-License-Identifier: Apache-2.0

// Package audit records in the system log who wrote to a subnet, or tried to and was refused. It uses the socket of
// journald, or that of syslog if there is no journald.
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

// Log holds the paths of the sockets to which records are sent. The zero value sends no records.
type Log struct {
	Journal string // the socket of journald
	Syslog  string // the socket of syslog
}

// Machine returns the log of this machine. The function path maps a standard path of the system to the actual path.
func Machine(path func(place string) string) Log {
	return Log{Journal: path("/run/systemd/journal/socket"), Syslog: path("/dev/log")}
}

// Record is a write or a refused write. Its texts are escaped.
type Record struct {
	Action string // "commit", "write on"
	Subnet string
	Before string // a hash of the forwarding tables, "" if they were not read
	After  string
	Result string // "done", or the reason for a failure
	Failed bool
}

// patience is the maximum time that a full socket may block a writer.
const patience = time.Second

// Write sends a record. It returns an error if neither journald nor syslog accepts the record.
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

// who returns the user of this process, and the user who called sudo, if any.
func who() [][2]string {
	out := [][2]string{{"IBCONSOLE_UID", fmt.Sprint(os.Getuid())}}
	if u, err := user.Current(); err == nil {
		out = append(out, [2]string{"IBCONSOLE_LOGIN", u.Username})
	}
	return append(out, [2]string{"IBCONSOLE_SUDO_USER", os.Getenv("SUDO_USER")})
}

// journal sends fields in the format of systemd's JOURNAL_NATIVE_PROTOCOL, one per line.
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
