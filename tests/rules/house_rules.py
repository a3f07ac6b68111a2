"""The rules of the house that a compiler does not check. Pure functions: text in, list of faults out."""
import os
import re

# Headers that only the rooms named in rooms.txt may include, by group.
RESTRICTED = {
    "json": r"nlohmann/.*",
    "toml": r"toml\+\+/.*|toml\.hpp",
    "expressions": r"muParser.*",
    "hdf5": r"hdf5.*|H5.*",
    "mpi": r"mpi\.h",
    "openmp": r"omp\.h",
    "options": r"boost/program_options.*",
    "files": r"fstream|filesystem|fcntl\.h|unistd\.h|sys/stat\.h|sys/file\.h|dirent\.h",
    "threads": r"thread|mutex|shared_mutex|atomic|condition_variable|future|semaphore|latch|barrier|pthread\.h",
}
# Third-party trees that every room may include.
FREE_LIBRARIES = r"fmt/.*"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
OPEN_WORK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}~])/(?:home|root|work|tmp|mnt|Users|scratch)/[\w.]+")
MODEL_LINE = re.compile(r"^\s*///.*\b(Model|Source):", re.MULTILINE)
MAX_LINES = 300


def read_rooms(text):
    """rooms.txt -> {room: (set of rooms, set of restricted groups)}"""
    rooms = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, rest = line.split(":", 1)
        others, groups = rest.split("|", 1)
        rooms[room.strip()] = (set(others.split()), set(groups.split()))
    return rooms


def include_faults(path, text, room, rooms):
    """Every #include of one file of a room against its line of the table."""
    allowed_rooms, allowed_groups = rooms[room]
    faults = []
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        line = text.count("\n", 0, match.start(2)) + 1
        place = f"{path}:{line}"
        if target.startswith("windtunnel/"):
            other = target.split("/")[1]
            if other not in rooms:
                faults.append(f"{place}: {target}: no such room")
            elif other != room and other not in allowed_rooms:
                faults.append(f"{place}: room {room} may not include room {other} ({target})")
            if kind == "<":
                faults.append(f'{place}: {target}: include our own headers with quotes')
            continue
        groups = [name for name, pattern in RESTRICTED.items() if re.fullmatch(pattern, target)]
        for group in groups:
            if group not in allowed_groups:
                faults.append(f"{place}: room {room} may not include {group} ({target})")
        known_tree = groups or re.fullmatch(FREE_LIBRARIES, target) or kind == '"'
        if "/" in target and not known_tree and not re.match(r"sys/|experimental/", target):
            faults.append(f"{place}: {target}: a library that the table does not know")
        if kind == '"' and "/" in target:
            faults.append(f"{place}: {target}: name a header by its full path windtunnel/ROOM/x.hpp")
    return faults


def cmake_rooms(text):
    """CMakeLists.txt -> {room: set of rooms it links}"""
    rooms = {}
    for match in re.finditer(r"^windtunnel_room\((\w+)([^)]*)\)", text, re.MULTILINE):
        words = match.group(2).split()
        linked = set()
        if "ROOMS" in words:
            for word in words[words.index("ROOMS") + 1:]:
                if word == "LIBRARIES":
                    break
                linked.add(word)
        rooms[match.group(1)] = linked
    return rooms


def table_faults(rooms, linked):
    """rooms.txt against CMakeLists.txt, and the table against itself: no cycles, includes lead to rooms."""
    faults = []
    for room in sorted(set(rooms) | set(linked)):
        if room not in rooms:
            faults.append(f"rooms.txt: room {room} of CMakeLists.txt is missing")
        elif room not in linked:
            faults.append(f"CMakeLists.txt: room {room} of rooms.txt is missing")
        elif rooms[room][0] != linked[room]:
            faults.append(f"{room}: rooms.txt says {sorted(rooms[room][0])}, CMakeLists.txt {sorted(linked[room])}")
    done = set()
    while True:
        free = [room for room in rooms if room not in done and rooms[room][0] <= done]
        if not free:
            break
        done.update(free)
    faults += [f"rooms.txt: room {room} is on a cycle or above an unknown room" for room in rooms if room not in done]
    return faults


def text_faults(path, text):
    """Unfinished work and paths of one machine."""
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in ((OPEN_WORK, "unfinished work"), (MACHINE_PATH, "a path of one machine")):
            found = pattern.search(line)
            if found:
                faults.append(f"{path}:{number}: {what}: {found.group(0)}")
    return faults


def length_faults(lengths, reasons_text):
    """{path: lines} against long_files.txt (`path: reason` per line); an entry that is not needed is a fault too."""
    reasons = {}
    for line in reasons_text.splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            path, _, reason = line.partition(":")
            reasons[path.strip()] = reason.strip()
    faults = [f"{path}: {count} lines, more than {MAX_LINES}, and no reason in long_files.txt"
              for path, count in sorted(lengths.items()) if count > MAX_LINES and not reasons.get(path)]
    faults += [f"long_files.txt: {path} needs no entry" for path in reasons if lengths.get(path, 0) <= MAX_LINES]
    return faults


def kernel_header_faults(path, text):
    """A kernel header that declares functions says what it models and from which source."""
    declares_function = re.search(r"\[\[nodiscard\]\][^;{]*\(", text)
    if declares_function and not MODEL_LINE.search(text):
        return [f"{path}: a kernel header without a Model: or Source: line"]
    return []


def files_below(root, folders, endings):
    for folder in folders:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(place, name), root)
