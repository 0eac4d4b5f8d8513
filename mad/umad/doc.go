// SPDX-License-Identifier: Apache-2.0

// Package umad accesses the InfiniBand adapters of this machine. [Open] returns a [mad.Transport] over the character
// devices /dev/infiniband/umadN of the Linux module ib_umad. [Ports] lists adapters and ports from sysfs, and
// [Diagnose] reports why a port cannot be used.
//
// The interface of the devices is that of Linux's include/uapi/rdma/ib_user_mad.h; the kernel side is in
// drivers/infiniband/core/user_mad.c and mad.c. An agent of the kernel is a queue pair and a class as which a program
// sends. The kernel puts the agent's number into the upper 32 bits of the transaction id and passes answers to the
// agent that sent the request. It returns a request with the status ETIMEDOUT if no answer arrives in time. It does not
// repeat requests; the client does.
//
// Subnet management packets use queue pair 0, everything else queue pair 1. A port whose link layer is Ethernet (RoCE)
// has no queue pair 0.
//
// A root argument is a directory below which sysfs and devices are found, for tests; "" is the machine.
package umad
