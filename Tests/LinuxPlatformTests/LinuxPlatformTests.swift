// LinuxPlatformTests
