// SPDX-License-Identifier: Apache-2.0

// Package privilege drops root privileges if another user started the program with sudo or as a setuid program.
package privilege

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// User is the user who started the program.
type User struct {
	UID, GID int
	Groups   []int
	Name     string // "" if the system has none
	Home     string
	By       string // how the program became root: "sudo" or "setuid"
}

// Variables of sudo with the IDs of its caller.
const (
	sudoUID = "SUDO_UID"
	sudoGID = "SUDO_GID"
)

// Started returns the user who started this process, which has root privileges. ok is false for root itself and for a
// process without root privileges. Invalid variables of sudo are an error.
func Started() (u User, ok bool, err error) {
	if os.Geteuid() != 0 {
		return User{}, false, nil
	}
	if os.Getuid() != 0 {
		u, err = lookUp(os.Getuid(), os.Getgid(), "setuid")
		return u, true, err
	}
	uid, gid := os.Getenv(sudoUID), os.Getenv(sudoGID)
	if uid == "" || uid == "0" {
		return User{}, false, nil
	}
	ids := [2]int{}
	for i, s := range []string{uid, gid} {
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil {
			return User{}, true, fmt.Errorf("%s is %q and %s %q, expected numbers", sudoUID, uid, sudoGID, gid)
		}
		ids[i] = int(n)
	}
	u, err = lookUp(ids[0], ids[1], "sudo")
	return u, true, err
}

// lookUp returns the user with the given ID. If the system does not know the user, the result has only the given group
// and no home directory.
func lookUp(uid, gid int, by string) (User, error) {
	u := User{UID: uid, GID: gid, Groups: []int{gid}, By: by}
	known, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		if _, unknown := errors.AsType[user.UnknownUserIdError](err); unknown {
			return u, nil
		}
		return u, fmt.Errorf("look up user %d: %w", uid, err)
	}
	u.Name, u.Home = known.Username, known.HomeDir
	groups, err := known.GroupIds()
	if err != nil {
		return u, fmt.Errorf("look up the groups of %s: %w", known.Username, err)
	}
	u.Groups = u.Groups[:0]
	for _, g := range groups {
		n, err := strconv.Atoi(g)
		if err != nil {
			return u, fmt.Errorf("group %q of %s: %w", g, known.Username, err)
		}
		u.Groups = append(u.Groups, n)
	}
	return u, nil
}

// ErrKept is returned if root privileges could not be dropped.
var ErrKept = errors.New("root privileges could not be dropped")

// Become permanently changes all threads of this process to the user. It also sets HOME to the user's home directory if
// sudo left root's. After an error the process must end, because it may still have some root privileges.
func (u *User) Become() error {
	for _, step := range []struct {
		name string
		call func() error
	}{
		{"setgroups", func() error { return syscall.Setgroups(u.Groups) }},
		{"setgid", func() error { return syscall.Setresgid(u.GID, u.GID, u.GID) }},
		{"setuid", func() error { return syscall.Setresuid(u.UID, u.UID, u.UID) }},
	} {
		if err := step.call(); err != nil {
			return fmt.Errorf("%w: %s for %s: %w", ErrKept, step.name, u, err)
		}
	}
	if u.UID != 0 && syscall.Setuid(0) == nil {
		return fmt.Errorf("%w: the system allows the process to regain them", ErrKept)
	}
	if u.By == "sudo" && u.Home != "" {
		return os.Setenv("HOME", u.Home)
	}
	return nil
}

func (u *User) String() string {
	if u.Name == "" {
		return fmt.Sprintf("user %d", u.UID)
	}
	return fmt.Sprintf("%s (user %d)", u.Name, u.UID)
}
